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

/** Waits until all finished runs are diagnosed, which happens in the background. Throws after two minutes. */
export async function waitForDiagnoses() {
  const tool = `${server}/api/apps/replay/tools/compare_commits`
  const deadline = Date.now() + 120_000
  for (;;) {
    const { not_diagnosed } = await post(tool, { 'Content-Type': 'application/json' }, '{}')
    if (not_diagnosed === 0) return
    if (Date.now() > deadline) throw new Error(`${not_diagnosed} runs are still not diagnosed`)
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
