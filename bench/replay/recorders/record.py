"""Records the frames in Python: record.py contacts|columns|ndjson DATA FILE. Prints µs of processor time."""

import gc
import json
import sys
import time
from array import array

from causeway_recorder import Recorder

FRAMES, DT, BOXES = 1000, 0.01, 20
CONTACTS, FLOOR = 4 * BOXES, BOXES + 1
COLUMNS = [
    ("position", BOXES, 3),
    ("velocity", BOXES, 3),
    ("orientation", BOXES, 4),
    ("angular_velocity", BOXES, 3),
    ("contact_point", CONTACTS, 3),
    ("contact_normal", CONTACTS, 3),
    ("contact_depth", CONTACTS, 1),
    ("contact_tangent1", CONTACTS, 3),
    ("contact_tangent2", CONTACTS, 3),
    ("contact_friction", CONTACTS, 1),
    ("contact_normal_impulse", CONTACTS, 1),
    ("contact_tangent1_impulse", CONTACTS, 1),
    ("contact_tangent2_impulse", CONTACTS, 1),
]
STATES = [name for name, rows, _ in COLUMNS if rows == BOXES]
LINE_NAMES = {
    "friction": "friction_coefficient",
    "normal_impulse": "normal_lambda",
    "tangent1_impulse": "tangent1_lambda",
    "tangent2_impulse": "tangent2_lambda",
}


def read_frames(path):
    with open(path, "rb") as file:
        data = array("d", file.read())
    at = 0
    while at < len(data):
        frame = {}
        for name, rows, width in COLUMNS:
            frame[name] = data[at : at + rows * width]
            at += rows * width
        yield frame


def to_columns(frame):
    ids = {"contact_a": [i // 4 + 1 for i in range(CONTACTS)], "contact_b": [FLOOR] * CONTACTS}
    return {**frame, "contacts_known": True, **ids}


def to_rows(frame):
    rows = {}
    for name, count, width in COLUMNS:
        column = frame[name].tolist()
        rows[name] = column if width == 1 else [column[width * i : width * i + width] for i in range(count)]
    names = [name for name, _, _ in COLUMNS if name not in STATES]
    contacts = [
        {"a": i // 4 + 1, "b": FLOOR, **{name.removeprefix("contact_"): rows[name][i] for name in names}}
        for i in range(CONTACTS)
    ]
    return {**{name: rows[name] for name in STATES}, "contacts": contacts}


def to_line(frame):
    rows = to_rows(frame)
    bodies = [{"id": i + 1, **{name: rows[name][i] for name in STATES}} for i in range(BOXES)]
    contacts = []
    for i in range(BOXES):
        points = rows["contacts"][4 * i : 4 * i + 4]
        names = [name for name in points[0] if name not in ("a", "b", "normal")]
        renamed = [{LINE_NAMES.get(name, name): point[name] for name in names} for point in points]
        contacts.append({"a": i + 1, "b": FLOOR, "normal": points[0]["normal"], "points": renamed})
    return {"bodies": bodies, "contacts": contacts}


def measure(frames, write, end):
    gc.collect()
    gc.freeze()
    before = time.process_time_ns()
    for i in range(1, FRAMES + 1):
        write(frames[i % len(frames)], i)
    end()
    print((time.process_time_ns() - before) // 1000)


mode, data, path = sys.argv[1:]
bodies = [{"id": i + 1, "mass": 1.0} for i in range(BOXES)]
bodies.append({"id": FLOOR, "is_environment": True, "shape": {"kind": "plane"}})
constants = {"dt": DT, "gravity": [0, 0, -9.81], "lambda_unit": "N·s"}
convert = {"contacts": to_rows, "columns": to_columns, "ndjson": to_line}[mode]
frames = [convert(frame) for frame in read_frames(data)]
if mode == "ndjson":
    with open(path, "w", buffering=256 * 1024) as file:
        file.write(json.dumps({"run": {**constants, "bodies": bodies}}) + "\n")
        dumps = json.JSONEncoder(separators=(",", ":")).encode
        measure(frames, lambda frame, i: file.write(dumps({"frame_id": i, "time": i * DT, **frame}) + "\n"), file.flush)
else:
    recorder = Recorder(path, bodies, **constants)
    measure(frames, lambda frame, _: recorder.frame(**frame), recorder.close)
