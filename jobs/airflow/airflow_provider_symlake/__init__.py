"""symlake in Airflow: an operator, links, and two DAGs. See symlake_ingest."""

from importlib import import_module

__version__ = "0.1.0"
__all__ = ["ReportLink", "RunLink", "Settings", "SymlakeOperator", "dags"]


def __getattr__(name):
    # Airflow asks for get_provider_info whenever it starts. It must not import its own DAG model for that.
    if name in __all__:
        return getattr(import_module(__name__ + ".symlake_ingest"), name)
    raise AttributeError(f"module {__name__} has no attribute {name}")


def get_provider_info():
    """Returns what Airflow's list of providers shows, and the links that its pages may draw."""
    return {
        "package-name": "airflow-provider-symlake",
        "name": "symlake",
        "description": "Loads symbol files into a symlake.",
        "versions": [__version__],
        "extra-links": [f"{__name__}.symlake_ingest.{link}" for link in ("RunLink", "ReportLink")],
    }
