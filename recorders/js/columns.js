/** Converts contacts and joints to the columns of `Frame`. */

const contactColumns = {
  point: ['contact_point', 3],
  normal: ['contact_normal', 3],
  depth: ['contact_depth', 1],
  tangent1: ['contact_tangent1', 3],
  tangent2: ['contact_tangent2', 3],
  friction: ['contact_friction', 1],
  restitution: ['contact_restitution', 1],
  normal_impulse: ['contact_normal_impulse', 1],
  tangent1_impulse: ['contact_tangent1_impulse', 1],
  tangent2_impulse: ['contact_tangent2_impulse', 1],
}

const jointColumns = {
  point: ['joint_point', 3],
  impulse: ['joint_impulse', 3],
  torque: ['joint_torque', 3],
  position_error: ['joint_position_error', 1],
}

const contactMembers = new Set(['a', 'b', ...Object.keys(contactColumns)])
const jointMembers = new Set(['a', 'b', 'kind', ...Object.keys(jointColumns)])

/** In the order of their numbers in causeway.proto. */
const jointKinds = ['other', 'fixed', 'hinge', 'slider', 'ball']

/** Returns the columns of a list of contacts; none if contacts are not known. Throws `TypeError` for an unknown member. */
export function toContactColumns(contacts) {
  if (contacts === undefined || contacts === null) return {}
  requireKnown('contact', contacts, contactMembers)
  if (contacts.length === 0) return { contacts_known: true }
  return {
    contacts_known: true,
    contact_a: contacts.map(({ a }) => a),
    contact_b: contacts.map(({ b }) => b),
    ...listColumns(contacts, contactColumns),
  }
}

/** Returns the columns of a list of joints. Throws `TypeError` for an unknown member or kind. */
export function toJointColumns(joints) {
  if (joints === undefined || joints === null || joints.length === 0) return {}
  requireKnown('joint', joints, jointMembers)
  return {
    joint_a: joints.map(({ a }) => a),
    joint_b: joints.map(({ b }) => b),
    joint_kind: joints.map(({ kind = 'other' }) => {
      const number = jointKinds.indexOf(kind)
      if (number < 0) throw new TypeError(`a joint has no kind ${kind}; the kinds: ${jointKinds.join(', ')}`)
      return number
    }),
    ...listColumns(joints, jointColumns),
  }
}

function requireKnown(what, rows, known) {
  for (const row of rows)
    for (const member in row)
      if (!known.has(member) && Object.hasOwn(row, member))
        throw new TypeError(`a ${what} has no member ${member}; its members: ${[...known].join(', ')}`)
}

function listColumns(rows, columns) {
  const listed = {}
  for (const [member, [column, width]] of Object.entries(columns)) {
    const numbers = width === 1 ? listNumbers(rows, member) : listVectors(rows, member, width)
    if (numbers !== undefined) listed[column] = numbers
  }
  return listed
}

/** Returns the numbers of a member, NaN if a row lacks it; undefined if every row lacks it. */
function listNumbers(rows, member) {
  let column
  for (let i = 0; i < rows.length; i++) {
    const value = rows[i][member]
    if (value === undefined || value === null) continue
    column ??= new Float64Array(rows.length).fill(Number.NaN)
    column[i] = value
  }
  return column
}

/** Returns the components of a member, NaN if a row lacks it; undefined if every row lacks it. */
function listVectors(rows, member, width) {
  let column
  for (let i = 0; i < rows.length; i++) {
    const value = rows[i][member]
    if (value === undefined || value === null) continue
    const vector = value.length === undefined ? [...value] : value
    // A vector of a wrong length makes a column of a wrong length, which the reader rejects.
    if (vector.length !== width) return rows.flatMap((row) => [...(row[member] ?? Array(width).fill(null))])
    column ??= new Float64Array(rows.length * width).fill(Number.NaN)
    for (let k = 0; k < width; k++) column[i * width + k] = vector[k] ?? Number.NaN
  }
  return column
}
