## Records the rigid bodies of a scene as JSON lines that Causeway diagnoses. Godot 4.3 or newer. MIT licence.
##
## Not run by the tests of Causeway: they only check lines of this form.
##
## A file or server that fails never stops the game: one warning, then the recorder is silent.
class_name CausewayRecorder
extends Node

const BATCH_LENGTH := 256 * 1024
const BATCH_MSEC := 1000
const SEARCH_TICKS := 60
const MAX_CONTACTS := 32
## Batches that wait for a slow disk or server; more are left out, and with them the rest of the run.
const MAX_BATCHES := 256
const ATTEMPTS := 5

## A file, or `http://host:port/api/apps/replay/recordings/<name>` of a Causeway server.
@export var target := "user://run.jsonl"
## Whether contact impulses are recorded. Those of Godot Physics are one step late; Jolt Physics estimates them.
@export var record_impulses := false

var _bodies := {}  # RigidBody3D or other moving body -> id
var _environment := {}  # StaticBody3D -> id
var _velocities := {}  # id -> [linear, angular] before the step
var _forces := {}  # id -> [force, torque] of scripts for the step
var _centers := {}  # id -> centre of mass before the step
var _contacts := {}  # id -> contacts of the body, which sleeping bodies do not report
var _declared: Array[Dictionary] = []
var _text: PackedStringArray = []
var _length := 0
var _last_id := 0
var _frame := 0
var _flushed_at := 0
var _gravity := Vector3.ZERO

var _thread := Thread.new()
var _mutex := Mutex.new()
var _semaphore := Semaphore.new()
var _batches: Array[PackedByteArray] = []
var _is_closing := false
var _has_failed := false


func _ready() -> void:
	# The state of the last step is read before scripts change it.
	process_physics_priority = -1000000
	_gravity = (
		ProjectSettings.get_setting("physics/3d/default_gravity_vector")
		* ProjectSettings.get_setting("physics/3d/default_gravity")
	)
	_find_bodies()
	var version := Engine.get_version_info()
	_write({"run": {
		"engine": "Godot %s" % version.string,
		"dt": 1.0 / Engine.physics_ticks_per_second,
		"gravity": _vector(_gravity),
		"lambda_unit": "N·s",
		"scenario": get_tree().current_scene.name if get_tree().current_scene else &"scene",
		"convention": {"up": "y", "quaternion": "xyzw", "normal": "b_to_a"},
		"bodies": _declared,
	}})
	_declared = []
	_thread.start(_store_batches)


func _exit_tree() -> void:
	_flush()
	_mutex.lock()
	_is_closing = true
	_mutex.unlock()
	_semaphore.post()
	_thread.wait_to_finish()


## Records a force that a script applies to a body for the next step, in N and N·m. Without it, the change of its velocity is reported.
func add_force(body: RigidBody3D, force: Vector3, torque := Vector3.ZERO) -> void:
	var id := _track(body)
	var sum: Array = _forces.get(id, [Vector3.ZERO, Vector3.ZERO])
	_forces[id] = [sum[0] + force, sum[1] + torque]


func _physics_process(_delta: float) -> void:
	# The first call is before the first step.
	if _frame > 0 or not _velocities.is_empty():
		_write_frame()
	if Engine.get_physics_frames() % SEARCH_TICKS == 0:
		_find_bodies()
	for body in _bodies:
		if not is_instance_valid(body):
			continue
		var state := PhysicsServer3D.body_get_direct_state(body.get_rid())
		if state:
			_velocities[_bodies[body]] = [state.linear_velocity, state.angular_velocity]
			_centers[_bodies[body]] = state.transform.origin + state.center_of_mass
	if _length >= BATCH_LENGTH or Time.get_ticks_msec() - _flushed_at >= BATCH_MSEC:
		_flush()


func _find_bodies() -> void:
	for node in get_tree().root.find_children("*", "PhysicsBody3D", true, false):
		if node is StaticBody3D and not node is AnimatableBody3D:
			_track_environment(node)
		else:
			_track(node)


func _track(body: PhysicsBody3D) -> int:
	if _bodies.has(body):
		return _bodies[body]
	_last_id += 1
	_bodies[body] = _last_id
	var line := {"id": _last_id, "name": String(body.name).left(64)}
	if body is RigidBody3D:
		body.contact_monitor = true
		body.max_contacts_reported = maxi(body.max_contacts_reported, MAX_CONTACTS)
		# A frozen body moves without forces: without a mass, its momentum is not checked.
		if not body.freeze:
			line["mass"] = body.mass
			var state := PhysicsServer3D.body_get_direct_state(body.get_rid())
			var inverse := state.inverse_inertia if state else Vector3.ZERO
			if inverse.x > 0 and inverse.y > 0 and inverse.z > 0:
				line["inertia"] = _vector(Vector3.ONE / inverse)
			var group := _find_group(body)
			if group > 0:
				line["group"] = group
			if state and state.center_of_mass_local.length() < 0.001 and _is_aligned(state):
				line.merge(_describe_shape(body))
	_declared.append(line)
	return _last_id


func _track_environment(body: StaticBody3D) -> int:
	if _environment.has(body):
		return _environment[body]
	_last_id += 1
	_environment[body] = _last_id
	var pose := body.global_transform.orthonormalized()
	var line := {"id": _last_id, "name": String(body.name).left(64), "is_environment": true}
	line["position"] = _vector(pose.origin)
	line["orientation"] = _quaternion(pose.basis)
	if body.constant_linear_velocity != Vector3.ZERO:
		line["surface_velocity"] = _vector(body.constant_linear_velocity)
	line.merge(_describe_shape(body))
	_declared.append(line)
	return _last_id


## Bodies that joints connect have the same group, made of the smallest instance id; 0 without joints.
func _find_group(body: RigidBody3D) -> int:
	var connected := {body: true}
	var joints := get_tree().root.find_children("*", "Joint3D", true, false)
	var grows := true
	while grows:
		grows = false
		for joint in joints:
			var one: Node = joint.get_node_or_null(joint.node_a)
			var other: Node = joint.get_node_or_null(joint.node_b)
			if not one is RigidBody3D or not other is RigidBody3D or connected.has(one) == connected.has(other):
				continue
			connected[one] = true
			connected[other] = true
			grows = true
	if connected.size() == 1:
		return 0
	return connected.keys().map(func(one: Node) -> int: return one.get_instance_id()).min() % 0x7fffffff + 1


func _is_aligned(state: PhysicsDirectBodyState3D) -> bool:
	return state.principal_inertia_axes.is_equal_approx(state.transform.basis.orthonormalized())


## Returns the shape of a body with one shape around its origin.
func _describe_shape(body: PhysicsBody3D) -> Dictionary:
	var shapes := body.find_children("*", "CollisionShape3D", false, false)
	if shapes.size() != 1 or not shapes[0].transform.is_equal_approx(Transform3D.IDENTITY):
		return {}
	var shape: Shape3D = shapes[0].shape
	if shape is BoxShape3D:
		return {"half_extents": _vector(shape.size / 2), "shape": {"kind": "box"}}
	if shape is SphereShape3D:
		return {"shape": {"kind": "sphere", "radius": shape.radius}}
	if shape is CapsuleShape3D:
		return {"shape": {"kind": "capsule", "radius": shape.radius, "half_length": shape.height / 2 - shape.radius}}
	if shape is WorldBoundaryShape3D and shape.plane.is_equal_approx(Plane(Vector3.UP, 0)):
		return {"shape": {"kind": "plane"}}
	return {}


func _write_frame() -> void:
	_frame += 1
	var states: Array[Dictionary] = []
	var pairs: Array[Dictionary] = []
	var seen := {}
	for body in _bodies.keys():
		if not is_instance_valid(body):
			_bodies.erase(body)
			continue
		var state := PhysicsServer3D.body_get_direct_state(body.get_rid())
		if state == null or not body.is_inside_tree():
			continue
		var id: int = _bodies[body]
		states.append(_describe_state(body, id, state))
		if body is RigidBody3D:
			if not state.sleeping or not _contacts.has(id):
				_contacts[id] = _read_contacts(id, state)
			for pair in _contacts[id]:
				# Two rigid bodies report the same contact.
				var key := Vector2i(mini(pair["a"], pair["b"]), maxi(pair["a"], pair["b"]))
				if seen.get(key, id) == id:
					seen[key] = id
					pairs.append(pair)
	if not _declared.is_empty():
		_write({"run": {"bodies": _declared}})
		_declared = []
	var time := _frame / float(Engine.physics_ticks_per_second)
	_write({"frame_id": _frame, "time": time, "bodies": states, "contacts": pairs})
	_forces.clear()


func _describe_state(body: PhysicsBody3D, id: int, state: PhysicsDirectBodyState3D) -> Dictionary:
	var line := {
		"id": id,
		"position": _vector(state.transform.origin + state.center_of_mass),
		"velocity": _vector(state.linear_velocity),
		"orientation": _quaternion(state.principal_inertia_axes),
		"angular_velocity_world": _vector(state.angular_velocity),
	}
	if not body is RigidBody3D or body.freeze or state.sleeping:
		return line
	var given: Array = _forces.get(id, [Vector3.ZERO, Vector3.ZERO])
	var before: Array = _velocities.get(id, [state.linear_velocity, state.angular_velocity])
	# Godot multiplies the velocities by 1 - damp dt before it adds forces.
	var ticks := float(Engine.physics_ticks_per_second)
	var force: Vector3 = given[0] + body.constant_force + body.mass * (state.total_gravity - _gravity)
	force -= body.mass * minf(state.total_linear_damp, ticks) * before[0]
	var torque: Vector3 = given[1] + body.constant_torque
	var axes := state.principal_inertia_axes
	var inverse := state.inverse_inertia
	if inverse.x > 0 and inverse.y > 0 and inverse.z > 0:
		torque -= minf(state.total_angular_damp, ticks) * (axes * ((axes.inverse() * before[1]) / inverse))
	if force != Vector3.ZERO or torque != Vector3.ZERO:
		var at: Vector3 = _centers.get(id, state.transform.origin + state.center_of_mass)
		line["forces"] = [{"force": _vector(force), "torque": _vector(torque), "at": _vector(at)}]
	return line


## Returns a contact for each body that touches this one. Normals point from the other body to this one.
func _read_contacts(id: int, state: PhysicsDirectBodyState3D) -> Array[Dictionary]:
	var found := {}
	for i in state.get_contact_count():
		var other := state.get_contact_collider_object(i)
		if not other is PhysicsBody3D:
			continue
		var is_fixed: bool = other is StaticBody3D and not other is AnimatableBody3D
		var b: int = _track_environment(other) if is_fixed else _track(other)
		var normal := state.get_contact_local_normal(i)
		var own := state.get_contact_local_position(i)
		var point := {
			"point": _vector(own),
			"depth": (state.get_contact_collider_position(i) - own).dot(normal),
		}
		if record_impulses:
			point["normal_lambda"] = absf(state.get_contact_impulse(i).dot(normal))
		# A body may touch another with several normals.
		var key := [b, (normal * 1000).round()]
		if not found.has(key):
			found[key] = {"a": id, "b": b, "normal": _vector(normal), "points": []}
		found[key]["points"].append(point)
	var pairs: Array[Dictionary] = []
	pairs.assign(found.values())
	return pairs


func _vector(v: Vector3) -> Array:
	return _numbers([v.x, v.y, v.z])


func _quaternion(basis: Basis) -> Array:
	var q := basis.get_rotation_quaternion()
	return _numbers([q.x, q.y, q.z, q.w])


## JSON has no numbers that are not finite: null is not known, which is reported like NaN.
func _numbers(values: Array) -> Array:
	return values.map(func(value: float) -> Variant: return value if is_finite(value) else null)


func _write(line: Dictionary) -> void:
	if _has_failed:
		return
	# Full precision restores every float exactly.
	var text := JSON.stringify(line, "", false, true)
	_text.append(text)
	_length += text.length()


func _flush() -> void:
	_flushed_at = Time.get_ticks_msec()
	if _text.is_empty():
		return
	var batch := ("\n".join(_text) + "\n").to_utf8_buffer()
	_text.clear()
	_length = 0
	_mutex.lock()
	var is_full := _batches.size() >= MAX_BATCHES
	if not is_full:
		_batches.append(batch)
	_mutex.unlock()
	if is_full:
		_fail("the batches are not stored as fast as they are recorded")
	else:
		_semaphore.post()


func _fail(reason: String) -> void:
	if not _has_failed:
		push_warning("Causeway: the rest of the run is not recorded: %s" % reason)
	_has_failed = true


# Runs on a thread of its own, so that a slow disk or server does not slow the game.
func _store_batches() -> void:
	var is_server := target.begins_with("http")
	var file: FileAccess = null if is_server else FileAccess.open(target, FileAccess.WRITE)
	if not is_server and file == null:
		_fail("%s: %s" % [target, error_string(FileAccess.get_open_error())])
	while true:
		_semaphore.wait()
		_mutex.lock()
		var batch: Variant = _batches.pop_front()
		var is_done := _is_closing and batch == null
		_mutex.unlock()
		if is_done:
			break
		if batch == null or _has_failed:
			continue
		if is_server:
			_post("/frames", batch, "application/x-ndjson")
		else:
			file.store_buffer(batch)
			file.flush()
			if file.get_error() != OK:
				_fail("%s: %s" % [target, error_string(file.get_error())])
	if is_server and not _has_failed:
		_post("/finish", "{}".to_utf8_buffer(), "application/json")


## Sends a body, again if the server does not answer: frames that it has stored already are ignored.
func _post(route: String, body: PackedByteArray, type: String) -> void:
	var reason := ""
	for attempt in ATTEMPTS:
		var answer := _request(route, body, type)
		var status: int = answer[0]
		reason = answer[1]
		if status >= 200 and status < 300:
			return
		# An earlier attempt may still be in progress (409).
		if status >= 400 and status < 500 and status != 409:
			break
		OS.delay_msec(250 * (attempt + 1))
	_fail(reason)


## Returns the status and the text of the answer; 0 if there is none.
func _request(route: String, body: PackedByteArray, type: String) -> Array:
	var parts := RegEx.create_from_string("^(https?://)([^/:]+):?(\\d*)(.*?)/?$").search(target)
	if parts == null:
		return [400, "%s is not a URL" % target]
	var is_secure := parts.get_string(1) == "https://"
	var port := int(parts.get_string(3)) if parts.get_string(3) != "" else (443 if is_secure else 80)
	var client := HTTPClient.new()
	if client.connect_to_host(parts.get_string(2), port, TLSOptions.client() if is_secure else null) != OK:
		return [0, "%s cannot be reached" % target]
	var deadline := Time.get_ticks_msec() + 30000
	var is_sent := false
	var answer := PackedByteArray()
	while Time.get_ticks_msec() < deadline:
		client.poll()
		match client.get_status():
			HTTPClient.STATUS_RESOLVING, HTTPClient.STATUS_CONNECTING, HTTPClient.STATUS_REQUESTING:
				pass
			HTTPClient.STATUS_CONNECTED:
				if is_sent:
					return [client.get_response_code(), answer.get_string_from_utf8()]
				is_sent = true
				client.request_raw(HTTPClient.METHOD_POST, parts.get_string(4) + route, ["Content-Type: %s" % type], body)
			HTTPClient.STATUS_BODY:
				answer.append_array(client.read_response_body_chunk())
			_:
				return [client.get_response_code(), answer.get_string_from_utf8()] if is_sent and client.has_response() else [0, "%s does not answer" % target]
		OS.delay_msec(1)
	return [0, "%s does not answer" % target]
