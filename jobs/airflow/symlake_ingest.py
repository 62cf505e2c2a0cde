"""symlake in Airflow 3 and 2.11.

Copy this file into the DAGs folder, and the two DAGs below are there. Or install the provider, which holds the same
file, and make them with settings of your own:

    from airflow_provider_symlake import dags

    ingest, tidy = dags(schedule="@hourly", shards=8, pool="symlake", aws_conn_id="aws_default")

`symlake_ingest` divides a run into shards and ingests each. `report` then tells once what was loaded, and what was
rejected and why, also if a shard failed. `publish` sends an asset event with that report. `told` acknowledges the
report. `rejected` fails if objects were rejected. `complete` fails if any task before it did, so the run does, too.
`symlake_tidy` follows the event: it merges small files of the lake, and removes loads that no reader needs.

You may run a shard again at any time: symlake knows what it has loaded.

    exit code  the task
    99         nothing new: skipped
    1          out of reach: failed, and tried again
    2          wrong configuration: failed for good
    other      failed, and tried again

The store keeps each report until `told` acknowledges it. If Airflow dies in between, a report arrives twice. The ids
under `accounts` tell you. What one run cannot tell, the next one does.

Shards share one store. Workers on several hosts need an hbase:// store. A file: store is for one host, where
shards wait for each other.

A run that you trigger takes parameters: `sources`, `shards`, `limit`, `force` and `deadline`.

Settings are arguments of `dags`, or variables of the scheduler and of the workers:

    SYMLAKE_CONFIG         symlake.yaml with sources, store, lake and keys; on every worker
    SYMLAKE_BIN            the program (symlake)
    SYMLAKE_SHARDS         shards of a run (4)
    SYMLAKE_AT_ONCE        shards that run at the same time (all)
    SYMLAKE_SCHEDULE       cron expression, or none (*/30 * * * *)
    SYMLAKE_DEADLINE       an ingest takes no new object after this time (25m); the next run takes the rest
    SYMLAKE_TASK_TIMEOUT   seconds after which Airflow stops a task (21600)
    SYMLAKE_RUN_TIMEOUT    seconds after which Airflow fails a run (no limit)
    SYMLAKE_RETRIES        of a task (2)
    SYMLAKE_RETRY_DELAY    seconds before the first retry, doubled for each one after it (300)
    SYMLAKE_POOL           pool of the shards (default_pool)
    SYMLAKE_AWS_CONN_ID    connection with the credentials for S3 and KMS (none: those of the worker)
    SYMLAKE_SERVE_URL      address of `symlake serve`, for links from a task to its run (none: no links)
    SYMLAKE_ON_FAILURE     function that Airflow calls when a run fails, as module.function
    SYMLAKE_ON_SUCCESS     function that Airflow calls when a run succeeds, as module.function
    SYMLAKE_LAKE_ASSET     URI by which others wait for the lake (symlake://lake)

With the OpenLineage provider, each shard says what it read and wrote: the sources, the store and the lake of
SYMLAKE_CONFIG.
"""

import importlib
import json
import os
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Optional
from urllib.parse import quote, urlsplit

try:  # Airflow 3
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG, Asset, BaseOperatorLink, Param, TriggerRule, task
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.datasets import Dataset as Asset
    from airflow.decorators import task
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
    from airflow.models.baseoperatorlink import BaseOperatorLink
    from airflow.models.param import Param
    from airflow.operators.bash import BashOperator
    from airflow.utils.trigger_rule import TriggerRule


@dataclass(frozen=True)
class Settings:
    """Settings of the DAGs. `from_environment` tells what each is."""

    program: str = "symlake"
    shards: int = 4
    at_once: Optional[int] = None
    schedule: Optional[str] = "*/30 * * * *"
    deadline: str = "25m"
    task_timeout: float = 6 * 3600
    run_timeout: Optional[float] = None
    retries: int = 2
    retry_delay: float = 300
    pool: str = "default_pool"
    aws_conn_id: Optional[str] = None
    serve_url: Optional[str] = None
    on_failure: Optional[Callable[[Any], None]] = None
    on_success: Optional[Callable[[Any], None]] = None
    lake_asset: str = "symlake://lake"

    @classmethod
    def from_environment(cls, environment=os.environ):
        """Returns the settings that the variables of this file's documentation give."""
        numbers = {"shards": int, "at_once": int, "retries": int}
        numbers.update(dict.fromkeys(["task_timeout", "run_timeout", "retry_delay"], float))
        numbers.update(dict.fromkeys(["on_failure", "on_success"], function))
        given = {}
        for field in fields(cls):
            name = "SYMLAKE_BIN" if field.name == "program" else "SYMLAKE_" + field.name.upper()
            if environment.get(name):
                given[field.name] = numbers.get(field.name, str)(environment[name])
        if given.get("schedule") == "none":
            given["schedule"] = None
        return cls(**given)


def function(path):
    """Returns the function that module.function names."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


INGEST = """
args=(--shard "$SHARD" --run "$RUN" --deadline "$DEADLINE")
if [ "$LIMIT" != 0 ]; then args+=(--limit "$LIMIT"); fi
if [ -n "$FORCE" ]; then args+=(--force); fi
mapfile -t sources <<< "$SOURCES"
if [ -z "$SOURCES" ]; then sources=(); fi
"$SYMLAKE_BIN" ingest "${args[@]}" --rejected-code 0 --nothing-new-code 99 --tell-later --report - "${sources[@]}"
"""  # The report is the last line printed. stderr is part of what XCom looks at, so nothing may follow it.
REPORT = '"$SYMLAKE_BIN" report --pending --nothing-new-code 99'
TOLD = '"$SYMLAKE_BIN" report --ack {{ ti.xcom_pull(task_ids="report")["accounts"] | join(" ") }}'

NAMED = 100  # of each list, in what XCom and asset events keep

PARAMS = {
    "sources": Param(
        [],
        type="array",
        items={"type": "string", "minLength": 1, "pattern": "^[^\\n-][^\\n]*$"},
        description="Files, folders or s3://bucket/prefix to read. Without one: the sources of the configuration.",
    ),
    "limit": Param(0, type="integer", minimum=0, description="Each shard takes at most so many objects. 0: all."),
    "force": Param(False, type="boolean", description="Load objects again that the store has."),
}


class RunLink(BaseOperatorLink):
    """Leads from a task to the page of its run."""

    name = "symlake run"

    def get_link(self, operator, *, ti_key):
        return link(operator, "/runs/", ti_key)


class ReportLink(BaseOperatorLink):
    """Leads from a task to the report of its run, as JSON."""

    name = "symlake report"

    def get_link(self, operator, *, ti_key):
        return link(operator, "/v1/run?id=", ti_key)


def link(operator, path, ti_key):
    """Returns the address of a run at a server, "" without a server."""
    server = getattr(operator, "serve_url", None) or Settings.from_environment().serve_url
    return server.rstrip("/") + path + quote(ti_key.run_id, safe="") if server else ""


class SymlakeOperator(BashOperator):
    """Runs symlake by a line of bash, in which $SYMLAKE_BIN is the program.

    Exit code 2 fails the task for good, because trying again helps no wrong configuration.

    :param program: path of the program.
    :param aws_conn_id: connection with the credentials for S3 and KMS. None: those of the worker.
    :param serve_url: address of `symlake serve`, for the task's links.
    """

    operator_extra_links = (RunLink(), ReportLink())
    ui_color = "#e7f0f7"

    def __init__(self, *, program="symlake", aws_conn_id=None, serve_url=None, **kwargs):
        super().__init__(append_env=True, **kwargs)
        self.program = program
        self.aws_conn_id = aws_conn_id
        self.serve_url = serve_url

    def get_env(self, context):
        env = super().get_env(context)
        env["SYMLAKE_BIN"] = self.program
        if self.aws_conn_id:
            env.update(aws_environment(self.aws_conn_id))
        return env

    def execute(self, context):
        try:
            return super().execute(context)
        except AirflowSkipException:
            raise
        except AirflowException as err:
            process = self.subprocess_hook.sub_process
            if process is not None and process.returncode == 2:
                raise AirflowFailException(
                    "symlake ended with exit code 2: its usage or its configuration is wrong, see the log"
                ) from err
            raise

    def get_openlineage_facets_on_complete(self, task_instance):
        """Returns the data sets that the task read and wrote, for the OpenLineage provider."""
        from airflow.providers.common.compat.openlineage.facet import Dataset
        from airflow.providers.openlineage.extractors import OperatorLineage

        inputs, outputs = lineage((self.env or {}).get("SOURCES", "").split("\n"))
        return OperatorLineage(
            inputs=[Dataset(namespace=space, name=name) for space, name in inputs],
            outputs=[Dataset(namespace=space, name=name) for space, name in outputs],
        )


def aws_environment(conn_id):
    """Returns the variables by which symlake reads S3 and KMS with the credentials of a connection."""
    try:
        from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
    except ImportError as err:
        raise AirflowFailException(
            f"connection {conn_id} needs the package apache-airflow-providers-amazon on this worker"
        ) from err
    hook = AwsGenericHook(aws_conn_id=conn_id, client_type="s3")
    keys = hook.get_credentials()
    env = {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}
    env["AWS_SESSION_TOKEN"] = keys.token or ""
    if hook.region_name:
        env["AWS_REGION"] = hook.region_name
    if hook.conn_config.endpoint_url:
        env["AWS_ENDPOINT_URL"] = hook.conn_config.endpoint_url
    return env


def lineage(sources=()):
    """Returns the inputs and the outputs of an ingest, each a list of (namespace, name) as OpenLineage has them.

    :param sources: URLs in place of the sources of SYMLAKE_CONFIG.
    """
    config = configuration()
    inputs = [url for url in sources if url]
    if not inputs:
        inputs = [source["url"] for source in config.get("sources") or [] if source.get("url")]
    lake = config.get("lake")
    if isinstance(lake, dict):
        lake = lake.get("url")
    outputs = [url for url in (config.get("store"), lake) if url and url != "off"]
    return [dataset(url) for url in inputs], [dataset(url) for url in outputs]


def configuration():
    """Returns the content of SYMLAKE_CONFIG, {} if there is no such file."""
    import yaml

    path = os.environ.get("SYMLAKE_CONFIG", "symlake.yaml")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8-sig") as text:
        return yaml.safe_load(text) or {}


def dataset(url):
    """Returns the namespace and the name that OpenLineage gives to a URL or a path."""
    parts = urlsplit(url)
    if parts.scheme in ("", "file"):
        return "file", os.path.abspath(parts.path)
    return f"{parts.scheme}://{parts.netloc}", parts.path.strip("/") or "/"


def brief(line):
    """Returns the part of a report that XCom keeps: its counts, and the first entries of its lists."""
    report = json.loads(line)
    objects = report["objects"]
    return {
        "runs": report.get("runs", [report.get("run", "")])[:NAMED],
        "accounts": report.get("accounts", []),
        "attempts": report.get("attempts", 1),
        "loaded": objects["loaded"],
        "kept": objects["kept"],
        "skipped": sum(objects["skipped"].values()),
        "rejected": objects["rejected"],
        "failed": objects["failed"],
        "conflicts": report.get("conflicted", 0),
        "artifacts": report["artifacts"],
        "artifact_ids": report.get("artifact_ids", [])[:NAMED],
        "ranges": report["ranges"],
        "classes": report.get("classes", 0),
        "read": report["bytes"]["read"],
        "stored": report["bytes"]["stored"],
        "wanted": report.get("wanted", [])[:NAMED],
        "reasons": report["rejected"][:NAMED],
        "failures": report.get("failed", [])[:NAMED],
        "conflicting": report.get("conflicts", [])[:NAMED],
        "sources": report.get("sources", [])[:NAMED],
        "errors": report.get("errors", [])[:NAMED],
    }


def dags(settings=None, *, dag_id="symlake_ingest", tidy_id="symlake_tidy", **changes):
    """Returns the DAG that ingests, and the DAG that tidies up behind it.

    :param settings: without them, those of the environment.
    :param changes: fields of Settings, in place of those of settings.
    """
    s = replace(settings or Settings.from_environment(), **changes)
    lake = Asset(s.lake_asset)
    common = {
        "start_date": datetime(2026, 1, 1, tzinfo=timezone.utc),
        "catchup": False,
        "max_active_runs": 1,
        "dagrun_timeout": timedelta(seconds=s.run_timeout) if s.run_timeout else None,
        "on_failure_callback": s.on_failure,
        "on_success_callback": s.on_success,
        "default_args": {
            "retries": s.retries,
            "retry_delay": timedelta(seconds=s.retry_delay),
            "retry_exponential_backoff": True,
            "max_retry_delay": timedelta(hours=1),
            "execution_timeout": timedelta(seconds=s.task_timeout),
        },
        "tags": ["symlake"],
    }
    symlake = {"program": s.program, "aws_conn_id": s.aws_conn_id, "serve_url": s.serve_url}
    params = {
        **PARAMS,
        "shards": Param(s.shards, type="integer", minimum=1, maximum=1024, description="Shards of this run."),
        "deadline": Param(
            s.deadline,
            type="string",
            pattern=r"^([0-9.]+(ms|s|m|h))+$",
            description="A shard takes no new object after this time.",
        ),
    }
    with DAG(dag_id, schedule=s.schedule, doc_md=__doc__, params=params, **common) as ingest_dag:

        @task(doc_md="Divides the run into shards, by the run's parameters.")
        def shards(params=None, run_id=None):
            common = {
                "RUN": run_id,
                "DEADLINE": params["deadline"],
                "LIMIT": str(params["limit"]),
                "FORCE": "yes" if params["force"] else "",
                "SOURCES": "\n".join(params["sources"]),
            }
            return [{"SHARD": f"{i}/{params['shards']}", **common} for i in range(params["shards"])]

        ingest = SymlakeOperator.partial(
            task_id="ingest",
            doc_md="Ingests a shard. Skipped: it had nothing new.",
            bash_command=INGEST,
            skip_on_exit_code=99,
            output_processor=brief,
            map_index_template="{{ task.env['SHARD'] }}",
            max_active_tis_per_dagrun=s.at_once or s.shards,
            pool=s.pool,
            **symlake,
        ).expand(env=shards())

        # It runs however the shards ended. It is skipped if no run has anything left to tell.
        report = SymlakeOperator(
            task_id="report",
            doc_md="Sums the reports of this run, and of earlier ones that were not told.",
            bash_command=REPORT,
            skip_on_exit_code=99,
            output_processor=brief,
            trigger_rule=TriggerRule.ALL_DONE,
            **symlake,
        )

        @task(outlets=[lake], doc_md="Sends the asset event that the lake has changed, with the report.")
        def publish(summed, outlet_events=None):
            if not summed["loaded"] and not summed["artifacts"]:
                raise AirflowSkipException("nothing was loaded")
            outlet_events[lake].extra = summed

        told = SymlakeOperator(
            task_id="told",
            doc_md="Acknowledges the report: no later run tells it again.",
            bash_command=TOLD,
            trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS,
            **symlake,
        )

        @task(trigger_rule=TriggerRule.ALL_DONE, retries=0, doc_md="Fails if objects were rejected. The rest is loaded.")
        def rejected(summed):
            if summed and summed["rejected"]:
                reasons = json.dumps(summed["reasons"])
                raise AirflowFailException(f"{summed['rejected']} objects were rejected: {reasons}")

        @task(trigger_rule=TriggerRule.NONE_FAILED, retries=0, doc_md="Fails if any task before it failed.")
        def complete():
            pass

        published = publish(report.output)
        failing = rejected(report.output)
        ingest >> report >> published
        [report, published] >> told >> failing
        [ingest, report, published, told, failing] >> complete()

    with DAG(tidy_id, schedule=[lake], doc_md="Merges small files of the lake and removes old loads.", **common) as tidy_dag:
        compact = SymlakeOperator(
            task_id="compact",
            doc_md="Merges small files of the lake.",
            bash_command='"$SYMLAKE_BIN" compact',
            pool=s.pool,
            **symlake,
        )
        compact >> SymlakeOperator(
            task_id="gc",
            doc_md="Removes loads that were abandoned or replaced.",
            bash_command='"$SYMLAKE_BIN" gc',
            pool=s.pool,
            **symlake,
        )
    return ingest_dag, tidy_dag


if not __package__:  # a file of the DAGs folder, not a module of the provider
    symlake_ingest, symlake_tidy = dags()
