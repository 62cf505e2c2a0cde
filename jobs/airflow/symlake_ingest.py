"""symlake in Airflow 3 and 2.11: one file for both.

symlake_ingest maps shards over one ingest each. Whatever the shards did, also when one of them failed in the end,
`report` tells it once: what was loaded, what was rejected and why. `publish` sends an asset event with that report.
`rejected` fails if objects were rejected. `complete` fails if anything before it did, so the run does, too.
symlake_tidy follows it: it merges small files of the lake and removes loads that no reader needs.

A shard may be run again at any time: symlake knows what it has loaded.

    exit code  the task
    99         nothing new: skipped
    1          out of reach, run it again: failed, and tried again
    2          wrong configuration: failed for good, not tried again

The store keeps each report until `told` acknowledges it. A report may arrive twice if Airflow dies in between: the
ids under `accounts` say so. What a run cannot tell, the next run does.

Shards share one store. Workers on several hosts need an hbase:// store. A file: store is for one host, where
shards wait for each other.

Settings, as variables of the scheduler and the workers:

    SYMLAKE_CONFIG       symlake.yaml with sources, store, lake and keys; on every worker
    SYMLAKE_BIN          the program (default: symlake)
    SYMLAKE_SHARDS       how many ingests a run is divided into (4)
    SYMLAKE_AT_ONCE      how many of them run at the same time (SYMLAKE_SHARDS)
    SYMLAKE_SCHEDULE     cron expression, or none (*/30 * * * *)
    SYMLAKE_DEADLINE     an ingest takes no new object after this time; what is left comes next time (25m)
    SYMLAKE_RETRIES      of a task (2)
    SYMLAKE_RETRY_DELAY  seconds between tries (300)
    SYMLAKE_LAKE_ASSET   URI under which others wait for the lake (symlake://lake)
"""

import json
import os
from datetime import datetime, timedelta, timezone

try:  # Airflow 3
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG, Asset, TriggerRule, task
    from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.datasets import Dataset as Asset
    from airflow.decorators import task
    from airflow.exceptions import AirflowException, AirflowFailException, AirflowSkipException
    from airflow.operators.bash import BashOperator
    from airflow.utils.trigger_rule import TriggerRule

SYMLAKE = os.environ.get("SYMLAKE_BIN", "symlake")
SHARDS = int(os.environ.get("SYMLAKE_SHARDS", "4"))
AT_ONCE = int(os.environ.get("SYMLAKE_AT_ONCE", SHARDS))
SCHEDULE = os.environ.get("SYMLAKE_SCHEDULE", "*/30 * * * *")
DEADLINE = os.environ.get("SYMLAKE_DEADLINE", "25m")
RETRIES = int(os.environ.get("SYMLAKE_RETRIES", "2"))
RETRY_DELAY = float(os.environ.get("SYMLAKE_RETRY_DELAY", "300"))
LAKE = Asset(os.environ.get("SYMLAKE_LAKE_ASSET", "symlake://lake"))

COMMON = dict(
    start_date=datetime(2026, 1, 1, tzinfo=timezone.utc),
    catchup=False,
    max_active_runs=1,
    default_args=dict(retries=RETRIES, retry_delay=timedelta(seconds=RETRY_DELAY)),
    tags=["symlake"],
)

# The report is the last line printed. stderr is part of what XCom looks at, so nothing may follow it.
INGEST = (
    f'"{SYMLAKE}" ingest --shard "$SHARD" --run "{{{{ run_id }}}}" --deadline {DEADLINE} '
    "--rejected-code 0 --nothing-new-code 99 --tell-later --report -"
)
REPORT = f'"{SYMLAKE}" report --pending --nothing-new-code 99'
TOLD = f'"{SYMLAKE}" report --ack {{{{ ti.xcom_pull(task_ids="report")["accounts"] | join(" ") }}}}'

NAMED = 100  # of each list, in what XCom and asset events keep


class SymlakeOperator(BashOperator):
    """Runs symlake. Exit code 2 fails the task for good: trying again helps no wrong configuration."""

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


def brief(line):
    """What XCom keeps of a report: its counts, and the first entries of its lists."""
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


with DAG("symlake_ingest", schedule=None if SCHEDULE == "none" else SCHEDULE, doc_md=__doc__, **COMMON):

    @task
    def shards():
        return [{"SHARD": f"{i}/{SHARDS}"} for i in range(SHARDS)]

    ingest = SymlakeOperator.partial(
        task_id="ingest",
        bash_command=INGEST,
        append_env=True,
        skip_on_exit_code=99,
        output_processor=brief,
        map_index_template="{{ task.env['SHARD'] }}",
        max_active_tis_per_dagrun=AT_ONCE,
        execution_timeout=timedelta(hours=6),
    ).expand(env=shards())

    # Runs whatever became of the shards. It is skipped if no run has anything left to tell.
    report = SymlakeOperator(
        task_id="report",
        bash_command=REPORT,
        append_env=True,
        skip_on_exit_code=99,
        output_processor=brief,
        trigger_rule=TriggerRule.ALL_DONE,
    )

    @task(outlets=[LAKE])
    def publish(summed, outlet_events=None):
        """The lake was published by the shards. This tells whoever waits for it."""
        if not summed["loaded"] and not summed["artifacts"]:
            raise AirflowSkipException("nothing was loaded")
        outlet_events[LAKE].extra = summed

    # The report has arrived: nobody tells it again.
    told = SymlakeOperator(
        task_id="told",
        bash_command=TOLD,
        append_env=True,
        trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS,
    )

    @task(trigger_rule=TriggerRule.ALL_DONE, retries=0)
    def rejected(summed):
        """Fails when objects were newly rejected. All others are loaded and published by then."""
        if summed and summed["rejected"]:
            raise AirflowFailException(f"{summed['rejected']} objects were rejected: {json.dumps(summed['reasons'])}")

    @task(trigger_rule=TriggerRule.NONE_FAILED, retries=0)
    def complete():
        """Fails with any task before it, and with it the run."""

    published = publish(report.output)
    failing = rejected(report.output)
    ingest >> report >> published
    [report, published] >> told >> failing
    [ingest, report, published, told, failing] >> complete()


with DAG("symlake_tidy", schedule=[LAKE], **COMMON):
    SymlakeOperator(task_id="compact", bash_command=f'"{SYMLAKE}" compact', append_env=True) >> SymlakeOperator(
        task_id="gc", bash_command=f'"{SYMLAKE}" gc', append_env=True
    )
