"""commands.py: the command line of Airflow, many times. Airflow takes ten seconds of processor time to be imported, and a test
gives it a dozen commands: this process imports what the commands before imported, and runs each in a fork, which leaves
nothing else behind.

Reads a JSON object a line: args, env and the path of a file for what the command prints. Answers with its exit code.
"""
import importlib
import json
import os
import sys

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from airflow.__main__ import main


def installed(name, module):
    return not name.startswith("__") and (getattr(module, "__file__", None) or "").startswith(sys.prefix)


for line in sys.stdin:
    command = json.loads(line)
    learned, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(learned)
        out = os.open(command["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(command["env"])
        sys.argv = ["airflow", *command["args"]]
        try:
            main()
            code = 0
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 0 if e.code is None else 1
            if isinstance(e.code, str):
                print(e.code, file=sys.stderr)
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        with os.fdopen(tell, "w") as names:
            print(*[name for name, module in list(sys.modules.items()) if installed(name, module)], file=names)
        os._exit(code)
    os.close(tell)
    with os.fdopen(learned) as names:
        for name in names.read().split():
            try:
                importlib.import_module(name)
            except Exception:
                pass  # it needs what the command did before
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
