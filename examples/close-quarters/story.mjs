/**
 * Imports a log of two boats, and asks ToolVault how close they came, where one of them was at that time, and how it bore
 * from the other. Nothing but plain HTTP. Usage: node story.mjs [log] [server], by default the REP file of the fixtures on
 * http://localhost:3100. Node 18 or newer.
 */
const [log = 'fixtures/tracks/boats.rep', server = 'http://localhost:3100'] = process.argv.slice(2)

/** Calls a tool; its command, or an error with the server's own words. */
async function call(tool, args) {
  const response = await fetch(`${server}/api/apps/toolvault/tools/${tool}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(args),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${answer.code}: ${answer.message}; ${answer.remedy}`)
  return answer
}

/** A command, or those that a composite is made of. */
const parts = ({ command, payload }) => (command === 'composite' ? payload : [{ command, payload }])

const findPayload = (answer, command) => parts(answer).find((part) => part.command === command)?.payload

const imported = await call('import_rep', { path: log })
console.log(findPayload(imported, 'showData').summary)

const tracks = findPayload(imported, 'addFeatures').filter(
  ({ properties }) => properties.dataType === 'track',
)
const closest = findPayload(await call('cpa_tcpa', { tracks }), 'showData')
console.log(closest.summary)

const [{ time }] = closest.approaches
const bearing = findPayload(
  await call('range_bearing', { features: tracks, at: time, unit: 'yd' }),
  'showData',
)
console.log(bearing.summary)
