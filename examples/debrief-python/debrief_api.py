"""Debrief from Python, with the standard library alone.

    from debrief_api import debrief
    debrief.apply_command({"command": "highlightFeatures", "payload": {"featureIds": ["feature1"]}})

Every call takes `filename`, which may be left out while one plot is open. A call that fails raises DebriefError.
"""

import json
import os
import urllib.error
import urllib.request


class DebriefError(Exception):
    """What went wrong: `code` is a number or "MULTIPLE_PLOTS", which comes with `available_plots`."""

    def __init__(self, error):
        super().__init__(error.get("message", "the call failed"))
        self.code = error.get("code")
        self.available_plots = error.get("available_plots", [])
        self.details = error.get("details", {})


class Debrief:
    """A server's plots; `url` is the port of Debrief (CAUSEWAY_LISTEN=debrief:60123)."""

    def __init__(self, url=None, timeout=10):
        self.url = url or os.environ.get("DEBRIEF_URL", "http://127.0.0.1:60123")
        self.timeout = timeout

    def command(self, name, filename=None, **params):
        """Sends one command and gives its result."""
        if filename is not None:
            params["filename"] = filename
        body = json.dumps({"command": name, "params": params}).encode()
        request = urllib.request.Request(
            self.url.rstrip("/") + "/api/command", data=body, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                return json.load(answer)["result"]
        except urllib.error.HTTPError as failure:
            answer = json.load(failure)
            raise DebriefError(answer.get("error", answer)) from None

    def apply_command(self, command, filename=None):
        """Applies a DebriefCommand, all of it or nothing; gives what it has to say."""
        return self.command("apply_command", filename, command=command)

    def list_open_plots(self):
        return self.command("list_open_plots")

    def get_feature_collection(self, filename=None):
        return self.command("get_feature_collection", filename)

    def set_feature_collection(self, collection, filename=None):
        return self.command("set_feature_collection", filename, featureCollection=collection)

    def get_selected_features(self, filename=None):
        return self.command("get_selected_features", filename)

    def set_selected_features(self, ids, filename=None):
        return self.command("set_selected_features", filename, ids=list(ids))

    def add_features(self, features, filename=None):
        return self.command("add_features", filename, features=list(features))

    def update_features(self, features, filename=None):
        return self.command("update_features", filename, features=list(features))

    def delete_features(self, ids, filename=None):
        return self.command("delete_features", filename, ids=list(ids))

    def zoom_to_selection(self, filename=None):
        return self.command("zoom_to_selection", filename)

    def get_time(self, filename=None):
        return self.command("get_time", filename)

    def set_time(self, time_state, filename=None):
        return self.command("set_time", filename, timeState=time_state)

    def get_viewport(self, filename=None):
        return self.command("get_viewport", filename)

    def set_viewport(self, viewport_state, filename=None):
        return self.command("set_viewport", filename, viewportState=viewport_state)

    def notify(self, message, filename=None):
        return self.command("notify", filename, message=message)


debrief = Debrief()
