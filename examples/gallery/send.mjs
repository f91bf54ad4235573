/** Sends a run to Causeway that a recorder writes while it is simulated. */
const server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'

/** Calls `simulate` with the sink of a recorder, and stores what it wrote as the run `name`. */
export async function record(name, simulate) {
  const parts = []
  simulate((bytes) => parts.push(bytes))
  const run = `${server}/api/apps/replay/recordings/${name}`
  await post(`${run}/frames`, { 'Content-Type': 'application/x-mcap' }, new Blob(parts))
  const { total_frames } = await post(`${run}/finish`, {}, '')
  return `${name}: ${total_frames} frames\n`
}

/** Waits until the finished runs of a scenario are diagnosed, in the background. */
export async function waitForDiagnoses(scenario) {
  const tool = `${server}/api/apps/replay/tools/compare_commits`
  for (;;) {
    const { commits } = await post(tool, { 'Content-Type': 'application/json' }, JSON.stringify({ scenario }))
    if (commits.every(({ not_diagnosed }) => not_diagnosed === 0)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function post(url, headers, body) {
  const response = await fetch(url, { method: 'POST', headers, body }).catch(() => {
    throw new Error(`${server} does not respond; run npm start`)
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${answer.message}; ${answer.remedy}`)
  return answer
}
