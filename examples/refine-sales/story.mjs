/**
 * Refines a small data project with Trm as a model would, over plain HTTP: submits three candidates, then restores the
 * files. Usage: node story.mjs [project] [server], by default sales on http://localhost:3100. Node 18 or newer.
 */
const [repo = 'sales', server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'] = process.argv.slice(2)
const session = `story-${process.pid}`

/** Calls a tool of Trm and returns its data. Throws the error of the tool. */
async function call(tool, args = {}) {
  const response = await fetch(`${server}/mcp/trm`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Causeway-Session': session },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args },
    }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(error.message)
  if (result.isError) throw new Error(result.content[0].text)
  return result.structuredContent
}

/** Candidates that a model would propose, each after the result of the previous one. */
const candidates = [
  {
    reason: 'an empty amount counts as zero',
    candidate: {
      mode: 'modify',
      changes: [
        {
          file: 'report.py',
          edits: [{ type: 'replace', oldText: "float(row['amount'])", newText: "float(row['amount'] or 0)" }],
        },
      ],
    },
  },
  {
    reason: 'the same, with the quotes of the file',
    candidate: {
      mode: 'modify',
      changes: [
        {
          file: 'report.py',
          edits: [{ type: 'replace', oldText: 'float(row["amount"])', newText: 'float(row["amount"] or 0)' }],
        },
      ],
    },
  },
  {
    reason: 'the month without sales is written as such',
    candidate: {
      mode: 'diff',
      changes: [{ path: 'sales.csv', diff: '@@\n north,1,120.5\n-north,2,\n+north,2,0\n south,1,80.25\n' }],
    },
  },
]

/** Submits candidates until the critic stops. */
async function refine() {
  const { baseline } = await call('trm.start', {
    repo,
    dataQual: 'python3 validate_schema.py',
    test: 'python3 -m unittest',
    lint: 'python3 lint.py',
    bench: 'python3 bench.py',
    halt: { max: 5 },
  })
  console.log(baseline.summary)
  console.log(`  ${baseline.feedback[0].split('\n')[0]}`)
  for (const { reason, candidate } of candidates) {
    const check = await call('trm.validate', { candidate })
    if (!check.valid) {
      console.log(`Refused, at no cost: ${check.errors[0].code}`)
      continue
    }
    const step = await call('trm.submit', { candidate, reason })
    console.log(step.summary)
    if (step.shouldHalt) break
  }
  const { message, filesRestored } = await call('trm.reset')
  console.log(`${message}: ${filesRestored.join(', ')} as before.`)
  await call('trm.end')
}

refine().catch((error) => {
  console.error(`story: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
})
