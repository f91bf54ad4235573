// Records the rigid bodies of a Unity scene as JSON lines that Causeway diagnoses. Unity 2022.2 or newer, PhysX. MIT licence.
//
// Not run by the tests of Causeway: they only check lines of this form.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using Unity.Collections;
using UnityEngine;
using UnityEngine.SceneManagement;

/// <summary>
/// Records every Rigidbody after every physics step to a file or to a server. A file or server that fails never stops the game: one
/// warning, then the recorder is silent.
/// </summary>
[DefaultExecutionOrder(32000)]
public sealed class CausewayRecorder : MonoBehaviour
{
    [Tooltip("File name, or http://host:port/api/apps/replay/recordings/<name> of a Causeway server")]
    public string target = "run.jsonl";

    const int BatchLength = 256 * 1024;
    const float BatchSeconds = 1;
    const float SearchSeconds = 1;

    sealed class Tracked
    {
        public int id;
        public Rigidbody body;
        /// <summary>Forces of the step, and the centre of mass at its start, at which they act.</summary>
        public Vector3 force, torque, center;
    }

    sealed class Contact
    {
        public int a, b;
        public bool isAwake;
        public readonly List<ContactPoint> points = new List<ContactPoint>();
    }

    struct ContactPoint
    {
        public Vector3 position, normal;
        public float depth, impulse;
    }

    readonly Dictionary<int, Tracked> bodies = new Dictionary<int, Tracked>();
    readonly Dictionary<int, int> environment = new Dictionary<int, int>();
    readonly HashSet<int> fixedIds = new HashSet<int>();
    readonly Dictionary<long, Contact> contacts = new Dictionary<long, Contact>();
    readonly List<string> declared = new List<string>();
    readonly StringBuilder text = new StringBuilder();
    CausewaySink sink;
    int lastId;
    long frame;
    float searchedAt = float.NegativeInfinity, flushedAt;

    /// <summary>Records to a file, or to the recording of a server, until the game ends or the returned component is destroyed.</summary>
    public static CausewayRecorder Record(string target = "run.jsonl")
    {
        var holder = new GameObject("Causeway recorder");
        holder.SetActive(false);
        var recorder = holder.AddComponent<CausewayRecorder>();
        recorder.target = target;
        DontDestroyOnLoad(holder);
        holder.SetActive(true);
        return recorder;
    }

    void OnEnable()
    {
        sink = target.StartsWith("http") ? new CausewayServerSink(target) : (CausewaySink)new CausewayFileSink(target);
        Physics.ContactEvent += ReadContacts;
        FindBodies();
        text.Append("{\"run\":{\"engine\":").Append(Quote("Unity " + Application.unityVersion + ", PhysX"));
        text.Append(",\"dt\":").Append(Number(Time.fixedDeltaTime)).Append(",\"gravity\":").Append(Vector(Physics.gravity));
        text.Append(",\"lambda_unit\":\"N·s\",\"scenario\":").Append(Quote(SceneManager.GetActiveScene().name));
        text.Append(",\"convention\":{\"up\":\"y\",\"handedness\":\"left\",\"quaternion\":\"xyzw\",\"normal\":\"b_to_a\"}");
        text.Append(",\"bodies\":[").Append(string.Join(",", declared)).Append("]}}\n");
        declared.Clear();
        StartCoroutine(RecordSteps());
    }

    void OnDisable()
    {
        Physics.ContactEvent -= ReadContacts;
        Flush();
        sink.Close();
    }

    /// <summary>Reads the forces that scripts added for the next step. Runs after the FixedUpdate of all other scripts.</summary>
    void FixedUpdate()
    {
        if (Time.fixedTime - searchedAt >= SearchSeconds) FindBodies();
        foreach (var tracked in bodies.Values)
        {
            var body = tracked.body;
            if (body == null || body.isKinematic) continue;
            var dt = Time.fixedDeltaTime;
            tracked.center = body.worldCenterOfMass;
            tracked.force = body.GetAccumulatedForce(dt);
            tracked.torque = body.GetAccumulatedTorque(dt);
            // PhysX applies gravity and forces, then multiplies the velocity by 1 - damping dt.
            var gravity = body.useGravity ? Physics.gravity : Vector3.zero;
            var velocity = LinearVelocity(body) + (gravity + tracked.force / body.mass) * dt;
            tracked.force -= body.mass * Mathf.Min(LinearDamping(body), 1 / dt) * velocity;
            var frameOfInertia = body.rotation * body.inertiaTensorRotation;
            var spin = Quaternion.Inverse(frameOfInertia) * body.angularVelocity;
            var momentum = frameOfInertia * Vector3.Scale(body.inertiaTensor, spin) + tracked.torque * dt;
            tracked.torque -= Mathf.Min(AngularDamping(body), 1 / dt) * momentum;
            if (!body.useGravity) tracked.force -= body.mass * Physics.gravity;
        }
    }

    System.Collections.IEnumerator RecordSteps()
    {
        var afterStep = new WaitForFixedUpdate();
        while (true)
        {
            yield return afterStep;
            WriteFrame();
            if (text.Length >= BatchLength || Time.unscaledTime - flushedAt >= BatchSeconds) Flush();
        }
    }

    void FindBodies()
    {
        searchedAt = Time.fixedTime;
        foreach (var body in FindObjectsByType<Rigidbody>(FindObjectsSortMode.InstanceID)) Track(body);
        foreach (var collider in FindObjectsByType<Collider>(FindObjectsSortMode.InstanceID))
        {
            collider.providesContacts = true;
            if (collider.attachedRigidbody == null && collider.attachedArticulationBody == null) TrackEnvironment(collider);
        }
    }

    int Track(Rigidbody body)
    {
        var key = body.GetInstanceID();
        if (bodies.TryGetValue(key, out var known)) return known.id;
        var tracked = new Tracked { id = ++lastId, body = body };
        bodies.Add(key, tracked);
        var line = new StringBuilder("{\"id\":").Append(tracked.id).Append(",\"name\":").Append(Quote(body.name));
        // A kinematic body moves without forces: without a mass, its momentum is not checked.
        if (!body.isKinematic)
        {
            line.Append(",\"mass\":").Append(Number(body.mass)).Append(",\"inertia\":").Append(Vector(body.inertiaTensor));
            var joint = FindJoint(body);
            if (joint != 0) line.Append(",\"group\":").Append(joint);
        }
        var shapes = body.GetComponentsInChildren<Collider>();
        var isAligned = Quaternion.Angle(body.inertiaTensorRotation, Quaternion.identity) < 0.1f;
        if (shapes.Length == 1 && isAligned && shapes[0].transform == body.transform && IsCentered(shapes[0], body))
            line.Append(Shape(shapes[0]));
        declared.Add(line.Append('}').ToString());
        return tracked.id;
    }

    static bool IsCentered(Collider shape, Rigidbody body) =>
        (shape.bounds.center - body.worldCenterOfMass).magnitude < 1e-3f;

    int TrackEnvironment(Collider collider)
    {
        var key = collider.GetInstanceID();
        if (environment.TryGetValue(key, out var known)) return known;
        environment.Add(key, ++lastId);
        fixedIds.Add(lastId);
        var line = new StringBuilder("{\"id\":").Append(lastId).Append(",\"name\":").Append(Quote(collider.name));
        var center = collider is BoxCollider box ? collider.transform.TransformPoint(box.center) : collider.bounds.center;
        line.Append(",\"is_environment\":true,\"position\":").Append(Vector(center));
        line.Append(",\"orientation\":").Append(Rotation(collider.transform.rotation));
        declared.Add(line.Append(Shape(collider)).Append('}').ToString());
        return lastId;
    }

    /// <summary>Bodies that joints connect have the same group: the smallest instance id, made positive.</summary>
    static int FindJoint(Rigidbody body)
    {
        var connected = new HashSet<Rigidbody> { body };
        var joints = FindObjectsByType<Joint>(FindObjectsSortMode.InstanceID);
        for (var grows = true; grows;)
        {
            grows = false;
            foreach (var joint in joints)
            {
                var (one, other) = (joint.GetComponent<Rigidbody>(), joint.connectedBody);
                if (other == null || connected.Contains(one) == connected.Contains(other)) continue;
                connected.Add(one);
                connected.Add(other);
                grows = true;
            }
        }
        var smallest = int.MaxValue;
        foreach (var one in connected) smallest = Math.Min(smallest, one.GetInstanceID());
        return connected.Count > 1 ? smallest & int.MaxValue : 0;
    }

    static string Shape(Collider collider)
    {
        var scale = collider.transform.lossyScale;
        scale = new Vector3(Mathf.Abs(scale.x), Mathf.Abs(scale.y), Mathf.Abs(scale.z));
        if (collider is BoxCollider box)
            return ",\"half_extents\":" + Vector(Vector3.Scale(box.size, scale) / 2) + ",\"shape\":{\"kind\":\"box\"}";
        if (collider is SphereCollider sphere)
            return ",\"shape\":{\"kind\":\"sphere\",\"radius\":" + Number(sphere.radius * Mathf.Max(scale.x, scale.y, scale.z)) + "}";
        if (collider is CapsuleCollider capsule && capsule.direction == 1)
        {
            var radius = capsule.radius * Mathf.Max(scale.x, scale.z);
            var half = Mathf.Max(0, capsule.height * scale.y / 2 - radius);
            return ",\"shape\":{\"kind\":\"capsule\",\"radius\":" + Number(radius) + ",\"half_length\":" + Number(half) + "}";
        }
        return "";
    }

    /// <summary>Reads the contacts of the step. Unity does not report those of sleeping bodies: the last ones are kept.</summary>
    void ReadContacts(PhysicsScene scene, NativeArray<ContactPairHeader>.ReadOnly headers)
    {
        foreach (var contact in contacts.Values) contact.isAwake = false;
        for (var h = 0; h < headers.Length; h++)
        {
            var header = headers[h];
            for (var p = 0; p < PairCount(header); p++)
            {
                var pair = header.GetContactPair(p);
                var (one, other) = Colliders(pair);
                if (one == null || other == null) continue;
                var key = ((long)one.GetInstanceID() << 32) ^ (uint)other.GetInstanceID();
                if (IsExit(pair))
                {
                    contacts.Remove(key);
                    continue;
                }
                if (!contacts.TryGetValue(key, out var contact)) contacts.Add(key, contact = new Contact());
                contact.a = FindId(one);
                contact.b = FindId(other);
                contact.isAwake = true;
                contact.points.Clear();
                for (var i = 0; i < PointCount(pair); i++) contact.points.Add(Point(pair.GetContactPoint(i)));
            }
        }
    }

    int FindId(Collider collider)
    {
        var body = collider.attachedRigidbody;
        return body == null ? TrackEnvironment(collider) : Track(body);
    }

    void WriteFrame()
    {
        var asleep = new HashSet<int>(fixedIds);
        frame++;
        var states = new List<string>();
        foreach (var tracked in bodies.Values)
        {
            if (tracked.body == null || !tracked.body.gameObject.activeInHierarchy) continue;
            if (tracked.body.IsSleeping() || tracked.body.isKinematic) asleep.Add(tracked.id);
            states.Add(State(tracked));
        }
        var (pairs, finished) = (new List<string>(), new List<long>());
        foreach (var entry in contacts)
        {
            var contact = entry.Value;
            if (contact.isAwake || asleep.Contains(contact.a) && asleep.Contains(contact.b)) pairs.Add(Pair(contact));
            else finished.Add(entry.Key);
        }
        foreach (var key in finished) contacts.Remove(key);
        if (declared.Count > 0 && frame > 1)
            text.Append("{\"run\":{\"bodies\":[").Append(string.Join(",", declared)).Append("]}}\n");
        declared.Clear();
        text.Append("{\"frame_id\":").Append(frame).Append(",\"time\":").Append(Number(Time.fixedTimeAsDouble));
        text.Append(",\"bodies\":[").Append(string.Join(",", states));
        text.Append("],\"contacts\":[").Append(string.Join(",", pairs)).Append("]}\n");
    }

    static string State(Tracked tracked)
    {
        var body = tracked.body;
        var line = new StringBuilder("{\"id\":").Append(tracked.id);
        line.Append(",\"position\":").Append(Vector(body.worldCenterOfMass));
        line.Append(",\"velocity\":").Append(Vector(LinearVelocity(body)));
        line.Append(",\"orientation\":").Append(Rotation(body.rotation * body.inertiaTensorRotation));
        line.Append(",\"angular_velocity_world\":").Append(Vector(body.angularVelocity));
        if (!body.isKinematic && (tracked.force != Vector3.zero || tracked.torque != Vector3.zero))
        {
            line.Append(",\"forces\":[{\"force\":").Append(Vector(tracked.force)).Append(",\"torque\":").Append(Vector(tracked.torque));
            line.Append(",\"at\":").Append(Vector(tracked.center)).Append("}]");
        }
        return line.Append('}').ToString();
    }

    static string Pair(Contact contact)
    {
        var points = new List<string>();
        foreach (var point in contact.points)
            points.Add("{\"point\":" + Vector(point.position) + ",\"depth\":" + Number(point.depth) + ",\"normal_lambda\":" + Number(point.impulse) + "}");
        var normal = contact.points.Count > 0 ? contact.points[0].normal : Vector3.up;
        return "{\"a\":" + contact.a + ",\"b\":" + contact.b + ",\"normal\":" + Vector(normal) + ",\"points\":[" + string.Join(",", points) + "]}";
    }

    void Flush()
    {
        flushedAt = Time.unscaledTime;
        if (text.Length == 0) return;
        sink.Write(Encoding.UTF8.GetBytes(text.ToString()));
        text.Clear();
    }

    // Nine digits restore a float32 exactly.
    static string Number(float value) => value.ToString("G9", CultureInfo.InvariantCulture).Replace("E", "e");
    static string Number(double value) => value.ToString("R", CultureInfo.InvariantCulture).Replace("E", "e");
    static string Vector(Vector3 v) => "[" + Number(v.x) + "," + Number(v.y) + "," + Number(v.z) + "]";
    static string Rotation(Quaternion q) => "[" + Number(q.x) + "," + Number(q.y) + "," + Number(q.z) + "," + Number(q.w) + "]";

    static string Quote(string value)
    {
        var line = new StringBuilder("\"");
        foreach (var letter in value.Length > 64 ? value.Substring(0, 64) : value)
            if (letter == '"' || letter == '\\') line.Append('\\').Append(letter);
            else if (letter >= ' ') line.Append(letter);
        return line.Append('"').ToString();
    }

    // Names that Unity 6 changed. PhysX reports normals from the other collider to the first, and impulses along the normal only.
#if UNITY_6000_0_OR_NEWER
    static Vector3 LinearVelocity(Rigidbody body) => body.linearVelocity;
    static float LinearDamping(Rigidbody body) => body.linearDamping;
    static float AngularDamping(Rigidbody body) => body.angularDamping;
    static int PairCount(in ContactPairHeader header) => header.pairCount;
    static int PointCount(in ContactPair pair) => pair.contactCount;
    static bool IsExit(in ContactPair pair) => pair.isCollisionExit;
    static (Collider, Collider) Colliders(in ContactPair pair) => (pair.collider, pair.otherCollider);
    static ContactPoint Point(in ContactPairPoint p) =>
        new ContactPoint { position = p.position, normal = p.normal, depth = -p.separation, impulse = Mathf.Abs(Vector3.Dot(p.impulse, p.normal)) };
#else
    static Vector3 LinearVelocity(Rigidbody body) => body.velocity;
    static float LinearDamping(Rigidbody body) => body.drag;
    static float AngularDamping(Rigidbody body) => body.angularDrag;
    static int PairCount(in ContactPairHeader header) => header.PairCount;
    static int PointCount(in ContactPair pair) => pair.ContactCount;
    static bool IsExit(in ContactPair pair) => pair.IsCollisionExit;
    static (Collider, Collider) Colliders(in ContactPair pair) => (pair.Collider, pair.OtherCollider);
    static ContactPoint Point(in ContactPairPoint p) =>
        new ContactPoint { position = p.Position, normal = p.Normal, depth = -p.Separation, impulse = Mathf.Abs(Vector3.Dot(p.Impulse, p.Normal)) };
#endif
}
