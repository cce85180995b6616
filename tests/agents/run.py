"""Runs real agents against a scripted model, in a network namespace with loopback alone.

    python3 tests/agents/run.py GIT_PROOF NODE_MODULES [AGENT|SCENARIO|AGENT:SCENARIO]... [--logs DIR]

Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed. The folder of a test that failed stays, with
what the model was asked and what the agent printed.
"""

import argparse
import concurrent.futures
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import sys
import tempfile
import time
import traceback

import agents
import scenarios
from model import Server
from stage import Refused, Stage


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("only", nargs="*")
    parser.add_argument("--logs", type=pathlib.Path, help="where to work; a temporary folder if not given")
    options = parser.parse_intermixed_args()
    isolate()

    tests = list(selected(options.only))
    missing = {agent.program for agent, _ in tests if not (options.modules / ".bin" / agent.program).exists()}
    if missing:
        sys.exit(f"not installed in {options.modules}: {', '.join(sorted(missing))}")

    root = options.logs.absolute() if options.logs else pathlib.Path(tempfile.mkdtemp(prefix="git-proof-agents-"))
    root.mkdir(parents=True, exist_ok=True)
    binary = root / "git-proof"
    binary.unlink(missing_ok=True)
    shutil.copy2(options.binary, binary)  # a build that goes on meanwhile changes nothing
    server = Server()

    def play(test):
        agent, name = test
        started = time.monotonic()
        folder = root / f"{agent.name}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        stage = None
        try:
            stage = Stage(folder, binary, options.modules.absolute(), server, agent, name)
            scenarios.ALL[name](stage)
            failures = stage.finish()
        except Refused as refused:
            failures = (stage.finish() if stage else []) + [str(refused)]
        except Exception:
            failures = (stage.finish() if stage else []) + [traceback.format_exc()]
        print(f"{'FAIL' if failures else 'PASS'} {agent.name} {name} ({time.monotonic() - started:.0f} s)", flush=True)
        if failures:
            for failure in failures:
                print("     " + failure.replace("\n", "\n     "), flush=True)
            print(f"     see {folder}", flush=True)
        if stage:
            stage.keep_logs() if failures else stage.remove()
        return not failures

    # Two agents at a time: the tests that run two themselves come alone.
    alone = [test for test in tests if test[1] in scenarios.PAIRS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(play, [test for test in tests if test not in alone]))
    passed += [play(test) for test in alone]
    for stray in server.strays:
        print(f"outside of every conversation: {stray}")
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    if all(passed) and not options.logs:
        shutil.rmtree(root)
    sys.exit(0 if all(passed) else 1)


def isolate():
    """Goes on in a network namespace in which there is only loopback: no agent may talk to anybody outside."""
    if os.environ.get("GIT_PROOF_AGENTS_ISOLATED") != "1":
        environment = os.environ | {"GIT_PROOF_AGENTS_ISOLATED": "1"}
        flags = ["--net"] if os.geteuid() == 0 else ["--net", "--map-root-user"]
        os.execvpe("unshare", ["unshare", *flags, sys.executable, *sys.argv], environment)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        up = struct.pack("16sh14x", b"lo", 0x1 | 0x40)  # IFF_UP and IFF_RUNNING
        fcntl.ioctl(control, 0x8914, up)  # SIOCSIFFLAGS
    routes = pathlib.Path("/proc/net/route").read_text().splitlines()[1:]
    if routes:
        sys.exit("this network namespace has a way out")


def selected(only):
    known = {agent.name for agent in agents.ALL} | set(scenarios.ALL)
    unknown = [word for word in only if not set(word.split(":")) <= known]
    if unknown:
        sys.exit(f"neither an agent nor a scenario: {', '.join(unknown)}")
    for name in scenarios.FOR_ALL + agents.EVERY:
        for agent in agents.ALL:
            chosen = not only or {agent.name, name, f"{agent.name}:{name}"} & set(only)
            if chosen and name in scenarios.FOR_ALL + agent.more_scenarios:
                yield agent, name


if __name__ == "__main__":
    main()
