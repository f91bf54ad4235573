import { useRef, useState } from 'preact/hooks'
import { type ToolResult, toServerError } from '../../data/server.ts'
import type { AppDetails, ToolDetails } from '../../data/types.ts'
import { toCommandLine, toCurl } from '../../domain/commands.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { DescriptionText } from '../../ui/foreign-text.tsx'
import { JsonInput } from '../../ui/json-input.tsx'
import { SchemaForm } from '../../ui/schema-form.tsx'
import { ResultView } from './answer-view.tsx'

export function ToolPanel({ app, path, tool }: { app: AppDetails; path: string; tool: ToolDetails }) {
  const [args, setArgs] = useState<unknown>(tool.example)
  const [isJson, setJson] = useState(false)
  const call = useCall(path, tool, args)
  const latest = useRef(call.run)
  latest.current = call.run
  useShortcuts(() => [
    { keys: 'Control+Enter', label: 'Call the tool', run: () => void latest.current() },
    { keys: 'Alt+j', label: 'Switch between form and JSON', run: () => setJson((wasJson) => !wasJson) },
  ])
  return (
    <div class="tool">
      <section class="stack" aria-labelledby="tool-title">
        <ToolHead app={app} tool={tool} />
        <fieldset class="row" aria-label="Edit the arguments as">
          <button type="button" class="button" aria-pressed={!isJson} onClick={() => setJson(false)}>
            Form
          </button>
          <button type="button" class="button" aria-pressed={isJson} onClick={() => setJson(true)}>
            JSON
          </button>
          <span style={{ flex: 1 }} />
          <button type="button" class="button quiet" onClick={() => setArgs(tool.example)}>
            Example
          </button>
        </fieldset>
        <form
          class="card stack"
          onSubmit={(event) => {
            event.preventDefault()
            void call.run()
          }}
        >
          {isJson ? (
            <JsonInput value={args} onChange={(next) => setArgs(next ?? {})} label="Arguments" rows={14} />
          ) : (
            <SchemaForm schema={tool.input_schema} value={args} onChange={(next) => setArgs(next ?? {})} />
          )}
          <div class="row">
            <button type="submit" class="button primary" disabled={call.isRunning}>
              {call.isRunning ? 'Calling…' : 'Call'}
            </button>
            {call.isRunning && (
              <button type="button" class="button" onClick={call.cancel}>
                Cancel
              </button>
            )}
            <CopyButton label="Copy as curl" text={() => toCurl(`${location.origin}${tool.href}`, args)} />
            <CopyButton label="Copy as command" text={() => toCommandLine(app.name, tool.name, args)} />
          </div>
          {call.isConfirming && (
            <p class="notice warn" role="alert">
              This tool can overwrite or delete data. Press Call again to continue; this is asked once per
              page.
            </p>
          )}
        </form>
      </section>
      <section class="stack" aria-labelledby="answer-title" aria-live="polite">
        <h2 id="answer-title">Answer</h2>
        {call.answer === undefined ? (
          <p class="muted">Press Call or Ctrl + Enter. The arguments are those of the example.</p>
        ) : (
          <ResultView answer={call.answer} />
        )}
      </section>
    </div>
  )
}

const ToolHead = ({ app, tool }: { app: AppDetails; tool: ToolDetails }) => (
  <div class="page-head">
    <h2 id="tool-title" class="mono tool-name">
      <bdi>
        {app.name}__{tool.name}
      </bdi>
    </h2>
    <p class="wrap">
      <DescriptionText text={tool.about} max={1500} />
    </p>
    <div class="row">
      {tool.read_only && <span class="chip">read only</span>}
      {tool.destructive && <span class="chip warn">▲ can overwrite or delete data</span>}
    </div>
  </div>
)

/** A destructive tool needs a confirmation. */
function useCall(path: string, tool: ToolDetails, args: unknown) {
  const { server } = useConsole()
  const [answer, setAnswer] = useState<ToolResult>()
  const [controller, setController] = useState<AbortController>()
  const [confirmation, setConfirmation] = useState<'none' | 'asked' | 'given'>('none')
  const run = async (): Promise<void> => {
    if (controller !== undefined) return
    if (tool.destructive && confirmation === 'none') return setConfirmation('asked')
    setConfirmation('given')
    const callController = new AbortController()
    setController(callController)
    try {
      setAnswer(await server.callTool(path, tool.name, args, { signal: callController.signal }))
    } catch (error) {
      if (callController.signal.aborted) return
      setAnswer(toAnswer(error))
    } finally {
      setController(undefined)
    }
  }
  return {
    answer,
    run,
    isRunning: controller !== undefined,
    isConfirming: confirmation === 'asked',
    cancel: () => controller?.abort(),
  }
}

const toAnswer = (error: unknown): ToolResult => ({
  structured: undefined,
  content: [],
  error: toServerError(error),
  ms: 0,
  bytes: 0,
  requestId: '',
})
