"""Records a bouncing ball. Usage: python3 bouncing_ball.py [file]"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from causeway_recorder import Recorder

dt, g, mass, radius, restitution = 0.01, 9.81, 2.0, 0.1, 0.8
bodies = [
    {"id": 1, "name": "ball", "mass": mass, "restitution": restitution, "shape": {"kind": "sphere", "radius": radius}},
    {"id": 2, "name": "floor", "is_environment": True, "shape": {"kind": "plane"}},
]

path = sys.argv[1] if len(sys.argv) > 1 else "ball.mcap"
with Recorder(path, bodies, dt=dt, gravity=(0, 0, -g), engine="bouncing_ball.py", lambda_unit="N·s") as recorder:
    z, v = 1.0, 0.0
    for frame in range(200):
        before, v = v, v - g * dt
        contacts = []
        if z + v * dt < radius and v < 0:
            bounced = -restitution * v
            impulse = mass * (bounced - v)
            point = {"point": (0, 0, 0), "normal": (0, 0, -1), "depth": radius - z, "friction": 0.5}
            contacts.append({"a": 1, "b": 2, **point, "restitution": restitution, "normal_impulse": impulse})
            v = bounced
        z += v * dt
        recorder.frame(position=[0, 0, z], velocity=[0, 0, v], orientation=[1, 0, 0, 0], contacts=contacts)
print(f"{path}: 200 frames")
