"""Finds the tracks of an open plot, marks the longest one as checked and highlights it.

    python3 highlight.py http://127.0.0.1:60123 sample.plot.json
"""

import sys

from debrief_api import Debrief, DebriefError

url, filename = sys.argv[1], sys.argv[2]
debrief = Debrief(url)

features = debrief.get_feature_collection(filename)["features"]
print(f"{filename}: {len(features)} features")

tracks = [one for one in features if one["properties"].get("dataType") == "track"]
longest = max(tracks, key=lambda track: len(track["geometry"]["coordinates"]))
name = longest["properties"]["name"]
checked = {**longest, "properties": {**longest["properties"], "name": f"{name} (checked)"}}

debrief.apply_command(
    {
        "command": "composite",
        "payload": [
            {"command": "updateFeatures", "payload": [checked]},
            {"command": "highlightFeatures", "payload": {"featureIds": [longest["id"]]}},
            {"command": "showText", "payload": f"{name} has {len(longest['geometry']['coordinates'])} fixes"},
        ],
    },
    filename,
)
print(f"highlighted {name}")

try:
    debrief.delete_features(["unknown"], "other.plot.json")
except DebriefError as error:
    print(f"as expected: {error.code} {error}")
