#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Counts test cases after ctest: `count.py FOLDER` reads ctest.junit and the XML files that GoogleTest programs wrote
# there, and prints 'N passed N failed N skipped'. A program that failed outside its cases (a crash, a sanitizer's
# report at its end) is one failure more.
import pathlib
import sys
import xml.etree.ElementTree as xml

folder = pathlib.Path(sys.argv[1])
passed = failed = skipped = 0
for program in xml.parse(folder / "ctest.junit").getroot().iter("testcase"):
    ran_well = program.get("status") == "run"
    cases = folder / f"test_{program.get('name')}.xml"
    failures = 0
    if cases.exists():
        for case in xml.parse(cases).getroot().iter("testcase"):
            if case.find("failure") is not None:
                failures += 1
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                skipped += 1
            else:
                passed += 1
    elif ran_well:
        passed += 1
    elif program.get("status") in ("disabled", "notrun") and program.find("failure") is None:
        skipped += 1
    failed += max(failures, 0 if ran_well or program.get("status") in ("disabled", "notrun") else 1)
print(f"{passed} passed {failed} failed {skipped} skipped")
