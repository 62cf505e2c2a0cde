"""Symbolicate frames and stacks in Spark 4, without files in between.

    from symlake_spark import ship, symbolicate

    ship(spark, "/opt/symlake/symlake")
    crashes = spark.table("raw.crashes")
    symbolicate(crashes, store="hbase://master:16000/symlake").write.saveAsTable("crashes")

`ship` sends the program to every executor. `symbolicate` gives each partition to a process of it by `mapInArrow`, one
record batch at a time. The rows come back in their order, with the columns `function`, `file`, `line`, `col`, `status`,
`reason` and `group`, and then `inlines` if a row is a frame, or `chain` if it is a stack. The columns that you have stay
as they are. Rows are frames or stacks as `symlake help lake` describes them under "Tables of stacks".

Executors need pyarrow. The program finds store and keys as it does elsewhere: by variables, which Spark hands to its
executors. So no key is in the program of the job, or in its plan.

    spark.executorEnv.SYMLAKE_STORE                  the store, if `symbolicate` names none
    spark.executorEnv.SYMLAKE_KEYSET                 the file of the keyset on the executor
    spark.kubernetes.executor.secrets.NAME=/etc/...  mounts that file from a secret
    spark.executorEnv.SYMLAKE_KMS                    or the key of AWS KMS, which the role of the executor opens
    spark.sql.execution.arrow.maxRecordsPerBatch     rows of a record batch (10,000)

A process keeps the answers of a partition in memory. Fewer and larger partitions look each place up less often. Sorting
rows by artifact within partitions makes a cold start cheaper, but it is not needed.

If a process fails, the task fails with the line that the process printed, and Spark tries it again.
"""

import os
import subprocess
import sys
import tempfile
from typing import Iterator, Mapping, Optional, Sequence

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

LINE = [("function", StringType()), ("file", StringType()), ("line", IntegerType()), ("col", IntegerType())]
ADDED = [*LINE, ("status", StringType()), ("reason", StringType()), ("group", StringType())]
# Python 3.10 can widen the pipes to a process. A record batch then takes fewer switches between both.
WIDE = {"pipesize": 1 << 20} if sys.version_info >= (3, 10) else {}


def ship(spark: SparkSession, program: str = "symlake") -> None:
    """Sends the program and this file to every executor. The program must be built for their system. Name the
    file itself: Spark sends a symbolic link by the name of its file."""
    spark.sparkContext.addFile(os.path.abspath(program))
    spark.sparkContext.addPyFile(os.path.abspath(__file__))


def symbolicate(
    rows: DataFrame,
    store: Optional[str] = None,
    columns: Optional[Mapping[str, str]] = None,
    prefix: str = "",
    arguments: Sequence[str] = (),
    program: str = "symlake",
    only: Optional[Sequence[str]] = None,
) -> DataFrame:
    """Returns the rows with the answers beside them.

    store is a URL of symlake; None: what SYMLAKE_STORE names on the executors. columns names your columns by their role, as
    in {"address": "pc"}. prefix stands before the names of the added columns. arguments are more flags of `symlake
    symbolicate`, such as --app APP@BUILD. program is the name of the file that `ship` sent, or a path on the executors.
    only names the added columns that come back, without the prefix; None: all of them. Spark takes most of its time for
    texts, so leave out `inlines` or `chain` if you do not need it. Raises ValueError if a name of only is not known.
    """
    names = dict(columns or {})
    command = ["--store", store] if store else []
    command += ["symbolicate", "--arrow", *arguments]
    command += [f"--column={role}={name}" for role, name in names.items()]
    if prefix:
        command += ["--prefix", prefix]
    if only:
        command += ["--add", ",".join(only)]

    schema = answered(rows.schema, names, prefix, only)

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shipped = SparkFiles.get(program) if os.path.basename(program) == program else program
        for batch in stream([shipped, *command], batches):
            yield batch if only is None else batch.select(schema.names)

    return rows.mapInArrow(answer, schema)


def answered(schema: StructType, columns: Mapping[str, str], prefix: str, only: Optional[Sequence[str]] = None) -> StructType:
    """Returns the schema of the rows with their answers, or with those that only names."""
    line = [StructField(name, kind) for name, kind in LINE]
    added = [StructField(prefix + name, kind) for name, kind in ADDED]
    if is_stack(schema, columns):
        frame = [StructField("frame", IntegerType()), StructField("status", StringType())]
        added.append(StructField(prefix + "chain", ArrayType(StructType(frame + line))))
    else:
        added.append(StructField(prefix + "inlines", ArrayType(StructType(line))))
    if only is not None:
        unknown = {prefix + name for name in only} - {field.name for field in added}
        if unknown:
            raise ValueError(f"no such columns: {sorted(unknown)}; there are {[field.name for field in added]}")
        added = [field for field in added if field.name in {prefix + name for name in only}]
    return StructType(schema.fields + added)


def is_stack(schema: StructType, columns: Mapping[str, str]) -> bool:
    """Tells whether a row is a stack: text, or a list of addresses."""
    if "stack" in columns:
        return True
    address = columns.get("address", "address").split(".")[0]
    return address not in schema.names or isinstance(schema[address].dataType, ArrayType)


def stream(command: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sends batches through a process and yields its answers. The process reads one batch ahead, so one is on its way."""
    first = next(batches, None)
    if first is None:
        return
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, **WIDE)
        try:
            writer = pa.ipc.new_stream(process.stdin, first.schema)
            writer.write_batch(first)
            process.stdin.flush()
            reader = pa.ipc.open_stream(process.stdout)
            for batch in batches:
                writer.write_batch(batch)
                process.stdin.flush()
                yield reader.read_next_batch()
            writer.close()
            process.stdin.close()
            yield reader.read_next_batch()
            if process.wait() != 0:
                raise RuntimeError(said(command, process, errors))
        except (OSError, StopIteration, pa.ArrowInvalid) as e:  # the process ended, and has said why
            process.kill()
            raise RuntimeError(said(command, process, errors)) from e
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def said(command: Sequence[str], process: subprocess.Popen, errors) -> str:
    """Returns the last that a process said before it ended."""
    code = process.wait()
    errors.seek(0)
    return f"{command[0]} ended with code {code}: {errors.read()[-2000:].decode(errors='replace').strip()}"
