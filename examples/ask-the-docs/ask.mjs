/**
 * Searches the documentation over plain HTTP, and prints the results with their first lines.
 * Usage: node ask.mjs [question] [server], by default on http://localhost:3100. Node 18 or newer.
 */
const [
  question = 'FST_ERR_CTP_BODY_TOO_LARGE',
  server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100',
] = process.argv.slice(2)

/** Calls a tool of Help and returns its data. Throws the error of the tool. */
async function help(tool, args) {
  const response = await fetch(`${server}/api/apps/help/tools/${tool}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(args),
  })
  const body = await response.json()
  if (!response.ok) throw new Error(`${body.code}: ${body.message}; ${body.remedy}`)
  return body
}

/** Searches, then reads the lines of the best chunk of each document. */
async function ask() {
  const { results } = await help('find_help_topics', { text: question, top_n: 3, chunks_per_result: 1 })
  if (results.length === 0) return console.log('Nothing was found.')
  for (const { doc_id, title, source, file_path, chunks } of results) {
    const [chunk] = chunks
    if (chunk === undefined) continue
    const { start_line, end_line, heading } = chunk
    const lines = { from_line: start_line, max_lines: end_line - start_line + 1 }
    const { content } = await help('get_help_document', { doc_id, ...lines })
    if (content !== chunk.text) throw new Error('the lines are not the text that was quoted')
    const first = content.split('\n').find((line) => line.trim() !== '')
    console.log(`${title}: ${heading}`)
    console.log(`  ${source}/${file_path}, lines ${start_line} to ${end_line}`)
    console.log(`  ${first}`)
  }
}

ask().catch((error) => {
  console.error(`ask: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
})
