"""Runs the tests and prints how they went as JSON, from unittest's own result."""

import io
import json
import sys
import unittest

suite = unittest.defaultTestLoader.discover(".")
sys.stdout, out = io.StringIO(), sys.stdout
sys.stderr = io.StringIO()
result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
skipped = len(result.skipped) + len(result.expectedFailures)
json.dump({"passed": result.testsRun - failed - skipped, "failed": failed, "skipped": skipped}, out)
