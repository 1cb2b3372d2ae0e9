"""Runs against the server at REGENT_URL: python -m unittest discover test."""

import http.server
import os
import threading
import time
import unittest

from regent import Batcher, DeadLetter, Item, Regent, RegentError, check
from regent.rest.api.dead_letters import list_dead_letters
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
        letter = check(list_dead_letters.sync_detailed(client=regent.rest, queue=q)).messages[0]
        self.assertEqual((letter.error_message, letter.consumer_group, letter.data), ("never", "g", 2))  # by value (F179)

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

    def test_a_proxys_page_is_an_error_like_others(self):
        answers = [("text/html", b"<html>"), ("application/json", b"[]")]

        class Proxy(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                kind, body = answers[0] if len(answers) == 1 else answers.pop(0)
                self.send_response(503)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        with self.assertRaises(RegentError) as caught:
            Regent(f"http://127.0.0.1:{proxy.server_port}", tries=2).push("q", Item(1))
        proxy.shutdown()
        self.assertEqual((caught.exception.status, caught.exception.retryable), (503, True))


if __name__ == "__main__":
    unittest.main()
