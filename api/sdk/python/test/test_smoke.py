"""Runs against the server at REGENT_URL: python -m unittest discover test."""

import os
import threading
import time
import unittest

from regent import Batcher, DeadLetter, Item, Regent, RegentError
from regent.rest.api.queues import get_queue_depth

regent = Regent(os.environ["REGENT_URL"])


def name(what: str) -> str:
    return f"py-{what}-{os.getpid()}"


class Smoke(unittest.TestCase):
    def test_consume_in_order_and_graceful_stop(self):
        q, seen = name("order"), []
        regent.push(q, *[Item({"n": i}) for i in range(20)])
        for upto in (7, 20):
            stop = threading.Event()

            def handle(m, upto=upto, stop=stop):
                seen.append(m.value["n"])
                if len(seen) == upto:
                    stop.set()

            regent.consume(q, handle, group="g", batch=5, wait=2, stop=stop)
        self.assertEqual(seen, list(range(20)))

    def test_failure_and_dead_letter(self):
        q, seen, stop = name("failure"), [], threading.Event()
        regent.push(q, Item(1), Item(2), Item(3))

        def handle(m):
            seen.append(m.value)
            if m.value == 1 and m.info.delivery_attempt == 1:
                raise RuntimeError("not today")
            if m.value == 2:
                raise DeadLetter("never")
            if m.value == 3:
                stop.set()

        regent.consume(q, handle, group="g", wait=2, stop=stop)
        self.assertEqual(seen, [1, 1, 2, 3])

    def test_lease_is_renewed(self):
        q, times, stop = name("lease"), [], threading.Event()
        regent.push(q, Item(1))

        def handle(_):
            times.append(1)
            time.sleep(2.5)
            stop.set()

        threads = [
            threading.Thread(target=regent.consume, args=(q, handle), kwargs={"group": "g", "wait": 0.2, "lease": 1, "stop": stop})
            for _ in range(2)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(times), 1)

    def test_batcher(self):
        q = name("batcher")
        batcher = Batcher(regent, q, size=50, linger=0.02)
        threads = [threading.Thread(target=batcher.push, args=(Item(i),)) for i in range(120)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        batcher.close()
        depth = get_queue_depth.sync(q, client=regent.rest)
        self.assertEqual(depth.pending, 120)

    def test_errors_name_the_field(self):
        with self.assertRaises(RegentError) as caught:
            regent.push("bad\x01name", Item(1))
        self.assertEqual(caught.exception.status, 400)
        self.assertIn("queue", caught.exception.text)


if __name__ == "__main__":
    unittest.main()
