"""Three pass, one fails, one breaks, one is skipped, one is expected to fail."""

import sys
import unittest


class Sample(unittest.TestCase):
    def test_adds(self):
        print("5 passed in 3 steps")
        self.assertEqual(1 + 1, 2)

    def test_adds_again(self):
        sys.stderr.write("Ran 99 tests\n")
        self.assertEqual(2 + 1, 3)

    def test_fails(self):
        self.assertEqual(1 + 1, 3)

    def test_breaks(self):
        raise KeyError("missing")

    @unittest.skip("slow")
    def test_waits(self):
        pass

    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)


class Other(unittest.TestCase):
    def test_adds(self):
        pass
