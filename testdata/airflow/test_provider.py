"""Tests of the provider in a real Airflow: python test_provider.py, with the wheel installed."""

import json
import os
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

from airflow_provider_symlake import ReportLink, RunLink, Settings, SymlakeOperator, dags, get_provider_info
from airflow_provider_symlake import symlake_ingest as module


def called(context):
    """A callback of the tests."""


class Provider(unittest.TestCase):
    def test_settings_come_from_variables(self):
        s = Settings.from_environment(
            {
                "SYMLAKE_BIN": "/opt/symlake",
                "SYMLAKE_SHARDS": "7",
                "SYMLAKE_SCHEDULE": "none",
                "SYMLAKE_RETRY_DELAY": "1.5",
                "SYMLAKE_ON_FAILURE": f"{__name__}.called",
                "SYMLAKE_POOL": "",
            }
        )
        self.assertEqual((s.program, s.shards, s.schedule, s.retry_delay), ("/opt/symlake", 7, None, 1.5))
        self.assertEqual((s.on_failure, s.pool, s.on_success), (called, "default_pool", None))

    def test_dags_take_arguments(self):
        ingest, tidy = dags(
            dag_id="mine", tidy_id="mine_tidy", shards=9, pool="heavy", run_timeout=60, task_timeout=5, on_failure=called, retry_delay=7
        )
        self.assertEqual((ingest.dag_id, tidy.dag_id), ("mine", "mine_tidy"))
        shard = ingest.get_task("ingest")
        self.assertEqual((shard.pool, shard.retry_delay.total_seconds()), ("heavy", 7))
        self.assertEqual(shard.execution_timeout.total_seconds(), 5)
        self.assertTrue(shard.retry_exponential_backoff)
        self.assertEqual(ingest.dagrun_timeout.total_seconds(), 60)
        self.assertIs(ingest.on_failure_callback, called)
        for t in ingest.tasks + tidy.tasks:
            self.assertTrue(t.doc_md, t.task_id)

    def test_parameters_are_checked(self):
        params = dags(dag_id="p", tidy_id="pt")[0].params
        good = {"sources": ["s3://b/x y'\"$(id)"], "shards": 2, "limit": 3, "force": True, "deadline": "1h30m"}
        for name, value in good.items():
            self.assertEqual(params.get_param(name).resolve(value), value)
        bad = {"sources": ["--force"], "shards": 0, "limit": -1, "force": "yes", "deadline": "soon"}
        for name, value in bad.items():
            with self.assertRaises(Exception, msg=name):
                params.get_param(name).resolve(value)
        with self.assertRaises(Exception):
            params.get_param("sources").resolve(["a\nb"])

    def test_connection_gives_credentials(self):
        uri = "aws://AKID:secret@/?region_name=eu-west-1&aws_session_token=tok&endpoint_url=http%3A%2F%2F127.0.0.1%3A9"
        with mock.patch.dict(os.environ, {"AIRFLOW_CONN_MINE": uri}):
            env = module.aws_environment("mine")
        self.assertEqual(
            env,
            {
                "AWS_ACCESS_KEY_ID": "AKID",
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_SESSION_TOKEN": "tok",
                "AWS_REGION": "eu-west-1",
                "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            },
        )

    def test_links_lead_to_the_run(self):
        key = SimpleNamespace(run_id="manual__2026-01-01T00:00:00+00:00")
        operator = SymlakeOperator(task_id="t", bash_command="true", serve_url="https://lake.example/")
        self.assertEqual(
            RunLink().get_link(operator, ti_key=key),
            "https://lake.example/runs/manual__2026-01-01T00%3A00%3A00%2B00%3A00",
        )
        self.assertEqual(
            ReportLink().get_link(operator, ti_key=key),
            "https://lake.example/v1/run?id=manual__2026-01-01T00%3A00%3A00%2B00%3A00",
        )
        self.assertEqual(RunLink().get_link(SymlakeOperator(task_id="u", bash_command="true"), ti_key=key), "")
        self.assertEqual(len(get_provider_info()["extra-links"]), 2)

    def test_lineage_names_sources_store_and_lake(self):
        with tempfile.TemporaryDirectory() as home:
            config = os.path.join(home, "symlake.yaml")
            with open(config, "w", encoding="utf-8") as out:
                json.dump({"sources": [{"url": "s3://symbols/android/"}], "store": "hbase://m:16000/t", "lake": {"url": home}}, out)
            with mock.patch.dict(os.environ, {"SYMLAKE_CONFIG": config}):
                facets = SymlakeOperator(task_id="t", bash_command="true").get_openlineage_facets_on_complete(None)
                self.assertEqual([(d.namespace, d.name) for d in facets.inputs], [("s3://symbols", "android")])
                self.assertEqual([(d.namespace, d.name) for d in facets.outputs], [("hbase://m:16000", "t"), ("file", home)])
                facets = SymlakeOperator(
                    task_id="u", bash_command="true", env={"SOURCES": "/data\ns3://b"}
                ).get_openlineage_facets_on_complete(None)
                self.assertEqual([(d.namespace, d.name) for d in facets.inputs], [("file", "/data"), ("s3://b", "/")])


if __name__ == "__main__":
    unittest.main()
