"""Records a bouncing ball, with the standard library only. Usage: python3 record.py [server] [name]"""

import json
import os
import sys
import urllib.request

server = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CAUSEWAY_URL", "http://localhost:3100")
name = sys.argv[2] if len(sys.argv) > 2 else "python-ball"
route = f"{server}/api/apps/replay/recordings/{name}"
dt, g, mass, radius, restitution = 0.01, 9.81, 2.0, 0.1, 0.8


def post(path, lines=()):
    """Sends lines, one JSON object each; the answer says how far the recording has come."""
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    request = urllib.request.Request(route + path, data=body, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def frames():
    z, v = 1.0, 0.0
    for frame in range(1, 201):
        v -= g * dt
        hits = z + v * dt < radius and v < 0
        contact = {"a": 1, "b": 2, "normal": [0, 0, -1], "depth": radius - z - v * dt}
        if hits:
            v = -restitution * v
        z += v * dt
        yield {
            "frame_id": frame,
            "time": frame * dt,
            "bodies": [{"id": 1, "position": [0, 0, z], "velocity": [0, 0, v], "orientation": [1, 0, 0, 0]}],
            "contacts": [contact] if hits else [],
        }


bodies = [{"id": 1, "mass": mass, "restitution": restitution}, {"id": 2, "is_environment": True}]
post("/frames", [{"run": {"engine": "record.py", "dt": dt, "gravity": [0, 0, -g], "bodies": bodies}}])
batch = []
for line in frames():
    batch.append(line)
    if len(batch) == 50:
        print(post("/frames", batch))
        batch = []
print(post("/finish")["status"])
