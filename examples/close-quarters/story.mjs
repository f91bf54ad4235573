/**
 * Imports a log of two boats with ToolVault, over plain HTTP, and computes their closest approach and the bearing at that
 * time. Usage: node story.mjs [log] [server], by default the REP file of the fixtures on http://localhost:3100. Node 18
 * or newer.
 */
const [log = 'fixtures/tracks/boats.rep', server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'] =
  process.argv.slice(2)

/** Calls a tool of ToolVault and returns its command. Throws the error of the tool. */
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

/** Returns the commands of a composite command. */
const listCommands = ({ command, payload }) => (command === 'composite' ? payload : [{ command, payload }])

const findPayload = (answer, command) =>
  listCommands(answer).find((item) => item.command === command)?.payload

async function findClosestApproach() {
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
}

findClosestApproach().catch((error) => {
  console.error(`story: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
})
