# SPDX-License-Identifier: Apache-2.0
"""Asks Fireworq and Allot the same; started by tests/nightly/fireworq."""
import argparse
import concurrent.futures
import fnmatch
import json
import shlex
import sys
import traceback

import cases
import expected
from world import World


def differences(theirs, ours, field=""):
    """(field, what they say, what we say), of what is not the same."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in sorted({*theirs, *ours}):
            below = (field + "." + name).lstrip(".")
            yield from differences(theirs.get(name, "(none)"), ours.get(name, "(none)"), below)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, (one, other) in enumerate(zip(theirs, ours)):
            yield from differences(one, other, "%s[%d]" % (field, number))
    elif theirs != ours or isinstance(theirs, bool) != isinstance(ours, bool):
        yield field, theirs, ours


def matches(text, pattern):
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))


def is_expected(label, field, values, entry):
    return matches(label, entry[0]) and matches(field, entry[1]) and entry[3:] in ((), values)


def run_all(world, parts):
    world.awaken()
    for part in parts:
        try:
            part(world)
        except Exception:  # the others still tell something
            world.record("part " + part.__name__, traceback.format_exc().splitlines()[-1])
            traceback.print_exc()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--theirs", type=int, nargs=2, required=True, help="ports: as usual, and with other settings")
    arguments.add_argument("--ours", type=int, nargs=2, required=True)
    arguments.add_argument("--targets", required=True, help="where the targets' addresses are written to")
    arguments.add_argument("--pause", required=True, help="the command that pauses the queue named behind it")
    arguments.add_argument("--all", action="store_true", help="show the differences that are expected, too")
    arguments.add_argument("--part", action="append")
    options = arguments.parse_args()
    pause = shlex.split(options.pause)
    pairs = [(World("Fireworq", theirs), World("Allot", ours, pause)) for theirs, ours in zip(options.theirs, options.ours)]
    with open(options.targets, "w") as file:
        file.write(", ".join('"%s"' % ours.target.origin for _, ours in pairs))
    sys.stdin.readline()  # all programs are there now
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = []
        for pair, parts in zip(pairs, (cases.PARTS, cases.OTHER_PARTS)):
            chosen = [each for each in parts if options.part is None or each.__name__ in options.part]
            runs += [pool.submit(run_all, world, chosen) for world in pair if chosen]
        for each in runs:
            each.result()

    theirs, ours = ({**first.records, **second.records} for first, second in zip(*pairs))
    met = set()
    same = unexpected = 0
    for label in dict.fromkeys([*theirs, *ours]):
        before = unexpected
        pairs = list(differences(theirs.get(label, "(none)"), ours.get(label, "(none)")))
        for field, one, other in pairs:
            why = next((each for each in expected.DIFFERENCES if is_expected(label, field, (one, other), each)), None)
            if why:
                met.add(why)
            unexpected += not why
            if why and not options.all:
                continue
            shown = label.encode("unicode_escape").decode()
            print("%s: %s: %s" % ("as expected" if why else "DIFFERS", shown, field))
            for who, value in (("Fireworq", one), ("Allot", other)):
                text = json.dumps(value, default=str)
                print("    %-8s %s" % (who, text if len(text) < 400 else text[:400] + "..."))
            if why:
                print("    because  " + why[2])
        same += unexpected == before
    stale = [each for each in expected.DIFFERENCES if each not in met] if options.part is None else []
    for each in stale:
        print("NOT MET: %s: %s: expected, because %s" % each[:3])
    print("%d kinds of difference are expected, and were met" % len(met))
    print("%d passed, %d failed" % (same, unexpected + len(stale)))
    return 1 if unexpected or stale else 0


sys.exit(main())
