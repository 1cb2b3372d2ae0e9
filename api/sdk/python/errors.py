"""Says what the client makes of each request in a file, as JSON."""

import json
import sys

from regent import Regent, RegentError, check

said = []
for each in json.load(open(sys.argv[1])):
    regent = Regent(each["url"], token=each["token"] or None)
    try:
        sent = {} if each["body"] is None else {"json": each["body"]}
        check(regent.rest.get_httpx_client().request(each["method"], each["path"], **sent))
        said.append({"name": each["name"]})
    except RegentError as e:
        said.append({"name": each["name"], "status": e.status, "code": e.code, "text": e.text, "retryable": e.retryable})
print(json.dumps(said))
