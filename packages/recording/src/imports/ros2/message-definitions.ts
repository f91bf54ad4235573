/** Message definitions (https://docs.ros.org) for bags that lack them. */

const separator = `${'='.repeat(80)}\n`

const types: Readonly<Record<string, { readonly fields: string; readonly uses: readonly string[] }>> = {
  'std_msgs/Header': {
    fields: 'builtin_interfaces/Time stamp\nstring frame_id',
    uses: ['builtin_interfaces/Time'],
  },
  'builtin_interfaces/Time': { fields: 'int32 sec\nuint32 nanosec', uses: [] },
  'geometry_msgs/Vector3': { fields: 'float64 x\nfloat64 y\nfloat64 z', uses: [] },
  'geometry_msgs/Point': { fields: 'float64 x\nfloat64 y\nfloat64 z', uses: [] },
  'geometry_msgs/Quaternion': { fields: 'float64 x\nfloat64 y\nfloat64 z\nfloat64 w', uses: [] },
  'geometry_msgs/Pose': {
    fields: 'geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation',
    uses: ['geometry_msgs/Point', 'geometry_msgs/Quaternion'],
  },
  'geometry_msgs/PoseStamped': {
    fields: 'std_msgs/Header header\ngeometry_msgs/Pose pose',
    uses: ['std_msgs/Header', 'geometry_msgs/Pose'],
  },
  'geometry_msgs/Transform': {
    fields: 'geometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation',
    uses: ['geometry_msgs/Vector3', 'geometry_msgs/Quaternion'],
  },
  'geometry_msgs/TransformStamped': {
    fields: 'std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/Transform transform',
    uses: ['std_msgs/Header', 'geometry_msgs/Transform'],
  },
  'geometry_msgs/Twist': {
    fields: 'geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular',
    uses: ['geometry_msgs/Vector3'],
  },
  'geometry_msgs/PoseWithCovariance': {
    fields: 'geometry_msgs/Pose pose\nfloat64[36] covariance',
    uses: ['geometry_msgs/Pose'],
  },
  'geometry_msgs/TwistWithCovariance': {
    fields: 'geometry_msgs/Twist twist\nfloat64[36] covariance',
    uses: ['geometry_msgs/Twist'],
  },
  'geometry_msgs/Wrench': {
    fields: 'geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque',
    uses: ['geometry_msgs/Vector3'],
  },
  'tf2_msgs/TFMessage': {
    fields: 'geometry_msgs/TransformStamped[] transforms',
    uses: ['geometry_msgs/TransformStamped'],
  },
  'nav_msgs/Odometry': {
    fields:
      'std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist',
    uses: ['std_msgs/Header', 'geometry_msgs/PoseWithCovariance', 'geometry_msgs/TwistWithCovariance'],
  },
  'sensor_msgs/JointState': {
    fields: 'std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort',
    uses: ['std_msgs/Header'],
  },
  'std_msgs/String': { fields: 'string data', uses: [] },
  'std_msgs/UInt32': { fields: 'uint32 data', uses: [] },
  'ros_gz_interfaces/Entity': { fields: 'uint64 id\nstring name\nuint8 type', uses: [] },
  'ros_gz_interfaces/JointWrench': {
    fields: [
      'std_msgs/Header header',
      'std_msgs/String body_1_name',
      'std_msgs/UInt32 body_1_id',
      'std_msgs/String body_2_name',
      'std_msgs/UInt32 body_2_id',
      'geometry_msgs/Wrench body_1_wrench',
      'geometry_msgs/Wrench body_2_wrench',
    ].join('\n'),
    uses: ['std_msgs/Header', 'std_msgs/String', 'std_msgs/UInt32', 'geometry_msgs/Wrench'],
  },
  'ros_gz_interfaces/Contact': {
    fields: [
      'ros_gz_interfaces/Entity collision1',
      'ros_gz_interfaces/Entity collision2',
      'geometry_msgs/Vector3[] positions',
      'geometry_msgs/Vector3[] normals',
      'float64[] depths',
      'ros_gz_interfaces/JointWrench[] wrenches',
    ].join('\n'),
    uses: ['ros_gz_interfaces/Entity', 'geometry_msgs/Vector3', 'ros_gz_interfaces/JointWrench'],
  },
  'ros_gz_interfaces/Contacts': {
    fields: 'std_msgs/Header header\nros_gz_interfaces/Contact[] contacts',
    uses: ['std_msgs/Header', 'ros_gz_interfaces/Contact'],
  },
}

const shorten = (type: string): string => type.replace('/msg/', '/')

/** Returns a definition with its dependencies in MCAP form. */
export function findDefinition(type: string): string | undefined {
  const root = types[shorten(type)]
  if (root === undefined) return undefined
  const usedTypes = new Set<string>()
  const collect = (names: readonly string[]): void => {
    for (const name of names) {
      if (usedTypes.has(name)) continue
      usedTypes.add(name)
      collect(types[name]?.uses ?? [])
    }
  }
  collect(root.uses)
  const parts = [...usedTypes].map((name) => `${separator}MSG: ${name}\n${types[name]?.fields ?? ''}\n`)
  return [`${root.fields}\n`, ...parts].join('')
}
