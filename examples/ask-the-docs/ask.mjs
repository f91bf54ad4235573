/**
 * Asks the documentation a question over plain HTTP, and prints the places that answer it with their first lines.
 * Usage: node ask.mjs [question] [server], by default on http://localhost:3100. Node 18 or newer.
 */
const [question = 'FST_ERR_CTP_BODY_TOO_LARGE', server = 'http://localhost:3100'] = process.argv.slice(2)

/** Calls a tool of Help; the answer's data, or an error with the server's own words. */
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

/** Asks, then opens the lines of the best piece of each document. */
async function ask() {
  const { results } = await help('find_help_topics', { text: question, top_n: 3, chunks_per_result: 1 })
  if (results.length === 0) return console.log('The documentation does not say.')
  for (const { doc_id, title, source, file_path, chunks } of results) {
    const [piece] = chunks
    if (piece === undefined) continue
    const { start_line, end_line, heading } = piece
    const lines = { from_line: start_line, max_lines: end_line - start_line + 1 }
    const { content } = await help('get_help_document', { doc_id, ...lines })
    if (content !== piece.text) throw new Error('the lines are not the text that was quoted')
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
