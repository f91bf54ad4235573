import { formatClient } from '@causeway/protocol/call-filter'
import type { ComponentChildren } from 'preact'
import type { CallLog } from '../../data/call-log.ts'
import type { AuditPage, CallRecord, CapturedCall, CapturedJson } from '../../data/types.ts'
import { formatBytes, formatCount, formatMs } from '../../domain/text.ts'
import { CaptureButton } from '../../ui/capture.tsx'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Chip, LoadedView, useLoaded } from '../../ui/state.tsx'
import { ValueTree } from '../../ui/value-tree.tsx'

interface CallPanelProps {
  readonly log: CallLog
  readonly request: string
  readonly suffix: string
  readonly filter: (filter: string) => void
}

export function CallPanel({ log, request, suffix, filter }: CallPanelProps) {
  const { server } = useConsole()
  const calls = useLoaded(
    async (signal): Promise<readonly CallRecord[]> => {
      const receivedCall = log.find(({ metadata }) => metadata.request_id === request)
      if (receivedCall.length > 0) return receivedCall
      const path = `/api/apps/causeway/audit?request_id=${encodeURIComponent(request)}`
      return (await server.get<AuditPage>(path, { signal })).entries
    },
    [request, server.needsToken.value],
  )
  return (
    <aside class="card stack traffic-panel" aria-label="Call">
      <div class="row spread">
        <h2>Call</h2>
        <a class="button quiet" href={`/traffic${suffix}`}>
          Close
        </a>
      </div>
      <LoadedView loaded={calls}>
        {(foundCalls) => {
          const [call] = foundCalls
          return call === undefined ? (
            <p class="muted">The audit has no call with this id.</p>
          ) : (
            <>
              <Details call={call} filter={filter} />
              <Payload request={request} session={call.metadata.session} />
            </>
          )
        }}
      </LoadedView>
    </aside>
  )
}

function Details({ call, filter }: { call: CallRecord; filter: (filter: string) => void }) {
  const { metadata, toolName, error } = call
  const { app, client, client_version, session, request_id, trace_id, subject, channel } = metadata
  return (
    <>
      <h3 class="wrap">
        <bdi>
          {app}__{toolName}
        </bdi>
      </h3>
      {error === undefined ? (
        <div>
          <Chip severity="ok">ok</Chip>
        </div>
      ) : (
        <div class="notice err">
          <div class="stack" style={{ gap: '4px' }}>
            <strong class="mono">{error.code}</strong>
            <ForeignText text={error.message} max={1000} />
          </div>
        </div>
      )}
      <dl class="call-facts">
        <Fact name="Ended">{call.timestamp}</Fact>
        <Fact name="Took">{formatMs(call.duration)} ms</Fact>
        <Fact name="About">{subject === undefined ? '–' : <ForeignText text={subject} />}</Fact>
        <Fact name="Client">
          <ForeignText text={`${formatClient(client)} ${client_version}`} />
        </Fact>
        <Fact name="Channel">{channel}</Fact>
        <Fact name="Request">
          {metadata.request_bytes === undefined ? '–' : formatBytes(metadata.request_bytes)}
        </Fact>
        <Fact name="Answer">
          {metadata.answer_chars === undefined ? '–' : formatBytes(metadata.answer_chars)}
        </Fact>
        <Fact name="Session">
          <code>{session}</code>
        </Fact>
        <Fact name="Request id">
          <code>{request_id}</code>
        </Fact>
        {trace_id !== undefined && (
          <Fact name="Trace id">
            <code>{trace_id}</code>
          </Fact>
        )}
      </dl>
      <div class="row">
        {call.view !== undefined && (
          <a class="button primary" href={call.view}>
            Show what it was about
          </a>
        )}
        <a class="button" href={`/apps/${app.toLowerCase()}/${encodeURIComponent(toolName)}`}>
          Open the tool
        </a>
        <button type="button" class="button" onClick={() => filter(`session:${session}`)}>
          Calls of this session
        </button>
        <a class="button" href={`/logs#text=${encodeURIComponent(request_id)}`}>
          Log lines
        </a>
      </div>
    </>
  )
}

function Payload({ request, session }: { request: string; session: string }) {
  const { capture } = useConsole()
  const isRunning = capture.state.value !== undefined
  return (
    <section class="stack" aria-labelledby="payload-title">
      <h3 id="payload-title">Arguments and answer</h3>
      {isRunning ? <Captured request={request} /> : <p class="muted">{notCaptured}</p>}
      <div>
        <CaptureButton session={session} />
      </div>
    </section>
  )
}

const notCaptured = 'Not captured. A capture contains only calls that end after it was started.'

function Captured({ request }: { request: string }) {
  const { server } = useConsole()
  const captured = useLoaded(
    (signal) =>
      server.get<CapturedCall>(`/api/apps/causeway/capture/calls/${encodeURIComponent(request)}`, { signal }),
    [request, server.needsToken.value],
  )
  return (
    <LoadedView loaded={captured}>
      {({ call }) =>
        call === null ? (
          <p class="muted">{notCaptured}</p>
        ) : (
          <>
            <CapturedTree name="arguments" captured={call.arguments} />
            <CapturedTree name="answer" captured={call.answer} />
          </>
        )
      }
    </LoadedView>
  )
}

const CapturedTree = ({ name, captured: { chars, value } }: { name: string; captured: CapturedJson }) => (
  <div class="traffic-payload">
    {value === undefined ? (
      <p class="muted">
        {name}: {formatCount(chars)} characters, too long to be shown
      </p>
    ) : (
      <ValueTree name={name} value={value} />
    )}
  </div>
)

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt class="muted">{name}</dt>
    <dd class="wrap">{children}</dd>
  </div>
)
