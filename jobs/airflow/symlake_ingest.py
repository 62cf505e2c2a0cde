"""symlake in Airflow 3 and 2.11: one file for both.

symlake_ingest maps shards over one ingest each, sums their reports, tells whoever waits for the lake that
there is something new, and fails last if objects were rejected, when all that could be loaded is loaded.
symlake_tidy follows it: it merges small files of the lake and removes loads that nobody needs.

A shard may be run again at any time: symlake knows what it has loaded. Exit code 99 (nothing new) skips
it, 1 (out of reach: run it again) fails it and is retried, 2 (wrong configuration) fails it for good.

Shards share one store. Workers on several hosts need an hbase:// store; a file: store is for one host, where
shards wait for each other.

Settings, as variables of the scheduler and the workers:

    SYMLAKE_CONFIG      symlake.yaml with sources, store, lake and keys; on every worker
    SYMLAKE_BIN         the program (default: symlake)
    SYMLAKE_SHARDS      how many ingests a run is divided into (4)
    SYMLAKE_AT_ONCE     how many of them run at the same time (SYMLAKE_SHARDS)
    SYMLAKE_SCHEDULE    cron expression, or none (*/30 * * * *)
    SYMLAKE_DEADLINE    an ingest takes no new object after this time; what is left comes next time (25m)
    SYMLAKE_RETRIES     of a shard (2)
    SYMLAKE_LAKE_ASSET  URI under which others wait for the lake (symlake://lake)
"""

import json
import os
from datetime import datetime, timedelta, timezone

try:  # Airflow 3
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG, Asset, TriggerRule, task
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.datasets import Dataset as Asset
    from airflow.decorators import task
    from airflow.exceptions import AirflowFailException, AirflowSkipException
    from airflow.operators.bash import BashOperator
    from airflow.utils.trigger_rule import TriggerRule

SYMLAKE = os.environ.get("SYMLAKE_BIN", "symlake")
SHARDS = int(os.environ.get("SYMLAKE_SHARDS", "4"))
AT_ONCE = int(os.environ.get("SYMLAKE_AT_ONCE", SHARDS))
SCHEDULE = os.environ.get("SYMLAKE_SCHEDULE", "*/30 * * * *")
DEADLINE = os.environ.get("SYMLAKE_DEADLINE", "25m")
RETRIES = int(os.environ.get("SYMLAKE_RETRIES", "2"))
LAKE = Asset(os.environ.get("SYMLAKE_LAKE_ASSET", "symlake://lake"))

COMMON = dict(
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    default_args=dict(retries=RETRIES, retry_delay=timedelta(minutes=5)),
    tags=["symlake"],
)

# The report is the last line printed. stderr is part of what XCom looks at, so nothing may follow it.
INGEST = (
    f'"{SYMLAKE}" ingest --shard "$SYMLAKE_SHARD" --run "{{{{ run_id }}}}" --deadline {DEADLINE} '
    "--rejected-code 0 --nothing-new-code 99 --report -"
)


def brief(line):
    """What XCom keeps of a report: its counts, and the first of what was rejected."""
    report = json.loads(line)
    keep = ("job", "run", "shard", "seconds", "objects", "artifacts", "ranges", "bytes")
    return {k: report[k] for k in keep if k in report} | {"rejected": (report.get("rejected") or [])[:20]}


with DAG("symlake_ingest", schedule=None if SCHEDULE == "none" else SCHEDULE, doc_md=__doc__, **COMMON):

    @task
    def shards():
        return [{"SYMLAKE_SHARD": f"{i}/{SHARDS}"} for i in range(SHARDS)]

    ingest = BashOperator.partial(
        task_id="ingest",
        bash_command=INGEST,
        append_env=True,
        skip_on_exit_code=99,
        output_processor=brief,
        map_index_template="{{ task.env['SYMLAKE_SHARD'] }}",
        max_active_tis_per_dagrun=AT_ONCE,
        execution_timeout=timedelta(hours=6),
    ).expand(env=shards())

    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
    def report(parts):
        """Sums the reports of the shards that had something to do."""
        parts = list(parts)
        objects = [p["objects"] for p in parts]
        return {
            "shards": len(parts),
            "loaded": sum(o["loaded"] for o in objects),
            "rejected": sum(o["rejected"] for o in objects),
            "artifacts": sum(p["artifacts"] for p in parts),
            "ranges": sum(p["ranges"] for p in parts),
            "stored": sum(p["bytes"]["stored"] for p in parts),
            "reasons": [r for p in parts for r in p["rejected"]][:100],
        }

    @task(outlets=[LAKE])
    def publish(summed):
        """The lake was published by the shards; this tells whoever waits for it."""
        if summed["loaded"] == 0:
            raise AirflowSkipException("nothing was loaded")

    @task(trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS, retries=0)
    def rejected(summed):
        """Fails when a run newly rejected objects; all others are loaded and published by then."""
        if summed["rejected"]:
            raise AirflowFailException(f"{summed['rejected']} objects were rejected: {json.dumps(summed['reasons'])}")

    summed = report(ingest.output)
    publish(summed) >> rejected(summed)


with DAG("symlake_tidy", schedule=[LAKE], **COMMON):
    BashOperator(task_id="compact", bash_command=f'"{SYMLAKE}" compact', append_env=True) >> BashOperator(
        task_id="gc", bash_command=f'"{SYMLAKE}" gc', append_env=True
    )
