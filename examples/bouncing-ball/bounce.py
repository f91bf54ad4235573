"""A ball that should bounce lower each time. Usage: python3 bounce.py <name of the recording>"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

server = os.environ.get("CAUSEWAY_URL", "http://localhost:3100")
name = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
mass, radius, restitution, g, dt = 1.0, 0.1, 0.8, 9.81, 0.01


def send(path, lines=()):
    """Sends lines of JSON to the recorder of Causeway."""
    url = f"{server}/api/apps/replay/recordings/{urllib.parse.quote(name, safe='')}/{path}"
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body)) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        sys.exit(f"{problem['message']}: {problem['remedy']}")
    except OSError as error:
        sys.exit(f"{server} does not respond ({error}): run npm start, or set CAUSEWAY_URL")


ball = {"id": 1, "mass": mass, "restitution": restitution}
floor = {"id": 2, "is_environment": True}
lines = [{"run": {"dt": dt, "gravity": [0, 0, -g], "bodies": [ball, floor]}}]

z, velocity = 1.0, 0.0
for frame in range(1, 301):
    velocity -= g * dt
    contacts = []
    if velocity < 0 and z + velocity * dt < radius:
        velocity = -velocity / restitution
        point = {"point": [0, 0, 0], "restitution": restitution}
        contacts = [{"a": 1, "b": 2, "normal": [0, 0, -1], "points": [point]}]
    z += velocity * dt
    state = {
        "id": 1,
        "position": [0, 0, z],
        "velocity": [0, 0, velocity],
        "orientation": [1, 0, 0, 0],
        "angular_velocity": [0, 0, 0],
    }
    lines.append({"frame_id": frame, "time": frame * dt, "bodies": [state], "contacts": contacts})

send("frames", lines)
run = send("finish")
print(f"{run['recording']}: {run['total_frames']} frames, {run['status']}")
