import unittest


class Sums(unittest.TestCase):
    def test_right(self):
        self.assertEqual(1 + 1, 2)

    def test_wrong(self):
        self.assertEqual(1 + 1, 3, "sum of ones")

    def test_error(self):
        raise ValueError("bad value")

    @unittest.skip("not here")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.assertTrue(False)

    @unittest.expectedFailure
    def test_unexpected(self):
        self.assertTrue(True)

    def test_sub(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)
