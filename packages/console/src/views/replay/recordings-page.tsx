import { useEffect, useRef, useState } from 'preact/hooks'
import type { Diagnosis, ListedRecording, RecordingList } from '../../data/replay.ts'
import { retryUnavailable } from '../../data/server.ts'
import { describeNoFindings, formatFindingTitle } from '../../domain/diagnosis.ts'
import { formatBytes, formatCount, formatDate, formatSpan, truncateText } from '../../domain/text.ts'
import { useConsole } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'
import { Upload } from './upload.tsx'

/** Longer recordings are diagnosed when they are opened. */
const maxFrames = 5000

export function RecordingsPage() {
  const { server } = useConsole()
  const list = useLoaded(
    (signal) => server.call<RecordingList>('replay', 'list_recordings', {}, { signal }),
    [server.needsToken.value],
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>Replay</h1>
        <p class="muted">
          Recordings of rigid body simulations. Open one to see its scene, findings and values.
        </p>
      </div>
      <LoadedView loaded={list}>
        {(value) => (
          <>
            <Upload folders={value.searched} onUploaded={list.reload} />
            <Recordings list={value} reload={list.reload} />
          </>
        )}
      </LoadedView>
    </div>
  )
}

function Recordings({ list, reload }: { list: RecordingList; reload: () => void }) {
  const health = useHealth(list.recordings, reload)
  const [chosenRecordings, setChosenRecordings] = useState<readonly string[]>([])
  const [a, b] = chosenRecordings
  if (list.recordings.length === 0)
    return (
      <Empty title="No recordings found">
        <p>Searched folders: {list.searched.join(', ')}</p>
        <p>Add a folder with CAUSEWAY_RECORDING_ROOTS, or record a run by sending frames as JSON lines:</p>
        <pre>{`curl ${location.origin}/api/apps/replay/recordings/my_run/frames --data-binary @run.jsonl`}</pre>
      </Empty>
    )
  const toggle = (recording: string): void =>
    setChosenRecordings((oldValue) =>
      oldValue.includes(recording)
        ? oldValue.filter((other) => other !== recording)
        : [...oldValue, recording].slice(-2),
    )
  return (
    <>
      <div class="row">
        {a === undefined || b === undefined ? (
          <span class="muted">Choose two recordings to compare them.</span>
        ) : (
          <a
            class="button primary"
            href={`/replay/${encodeURIComponent(a)}/compare/${encodeURIComponent(b)}`}
          >
            Compare <ForeignText text={a} max={40} /> with <ForeignText text={b} max={40} />
          </a>
        )}
      </div>
      <div class="card scroll">
        <table>
          <thead>
            <tr>
              <th>
                <span class="visually-hidden">Chosen</span>
              </th>
              <th>Recording</th>
              <th>Diagnosis</th>
              <th class="number">Bodies</th>
              <th class="number">Frames</th>
              <th class="number">Duration</th>
              <th>Era</th>
              <th class="number">Size</th>
              <th>Modified (UTC)</th>
            </tr>
          </thead>
          <tbody>
            {list.recordings.map((listed) => (
              <RecordingRow
                key={listed.recording}
                listed={listed}
                health={health.get(listed.recording)}
                isChosen={chosenRecordings.includes(listed.recording)}
                toggle={toggle}
              />
            ))}
          </tbody>
        </table>
      </div>
      {list.next_cursor !== null && (
        <p class="muted">
          {list.recordings.length} of {list.count} recordings are listed.
        </p>
      )}
      {list.others.length > 0 && <OtherFiles others={list.others} />}
    </>
  )
}

interface RowProps {
  readonly listed: ListedRecording
  readonly health: Health | undefined
  readonly isChosen: boolean
  readonly toggle: (recording: string) => void
}

function RecordingRow({ listed, health, isChosen, toggle }: RowProps) {
  const { recording, name, total_frames, bodies, duration_s, era, size_bytes, modified, status } = listed
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${truncateText(recording, 60)}`}
          checked={isChosen}
          onChange={() => toggle(recording)}
        />
      </td>
      <td class="wrap recording">
        <a href={`/replay/${encodeURIComponent(recording)}`} title={name}>
          <ForeignText text={recording} />
        </a>{' '}
        {status === 'live' && <Chip severity="warn">live</Chip>}
        {status === 'interrupted' && <Chip severity="off">interrupted</Chip>}
      </td>
      <td class="diagnosis">
        {total_frames === null || total_frames === 0 ? (
          <span class="muted">–</span>
        ) : (
          <HealthChip health={health} isLong={total_frames > maxFrames} />
        )}
      </td>
      <td class="number">{bodies === undefined ? '–' : formatCount(bodies)}</td>
      <td class="number">{total_frames === null ? '–' : formatCount(total_frames)}</td>
      <td class="number">{duration_s === undefined ? '–' : formatSpan(duration_s)}</td>
      <td>{era ?? '–'}</td>
      <td class="number">{formatBytes(size_bytes)}</td>
      <td class="mono date">{formatDate(modified)}</td>
    </tr>
  )
}

const OtherFiles = ({ others }: Pick<RecordingList, 'others'>) => (
  <section class="stack" aria-labelledby="others-title">
    <h2 id="others-title">Files that are not recordings</h2>
    <div class="card scroll">
      <table>
        <tbody>
          {others.map(({ path, name, reason }) => (
            <tr key={path}>
              <td class="wrap">
                <ForeignText text={name} />
              </td>
              <td>
                <code>{reason}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </section>
)

type Health = Pick<Diagnosis, 'findings' | 'count' | 'checked' | 'not_checked'> | 'failed'

/**
 * Diagnoses one recording after the other, then reloads the list, which then contains bodies, duration and era. Does
 * not cancel a running diagnosis, which Traffic would show as failed.
 */
function useHealth(recordings: readonly ListedRecording[], reload: () => void): ReadonlyMap<string, Health> {
  const { server } = useConsole()
  const diagnosedNames = useRef(new Set<string>())
  const isStale = useRef(false)
  const [healthByRecording, setHealthByRecording] = useState<ReadonlyMap<string, Health>>(new Map())
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const run = async (): Promise<void> => {
      for (const { recording, total_frames, era } of recordings) {
        if (signal.aborted) return
        if (total_frames === null || total_frames === 0 || total_frames > maxFrames) continue
        if (diagnosedNames.current.has(recording)) continue
        diagnosedNames.current.add(recording)
        isStale.current ||= era === undefined
        const args = { recording, max_findings: 1 }
        const diagnose = () => server.call<Diagnosis>('replay', 'diagnose', args)
        const health = await retryUnavailable(diagnose, signal).catch(() => 'failed' as const)
        // The recording is diagnosed again with the next list.
        if (health === 'failed' && signal.aborted) diagnosedNames.current.delete(recording)
        else setHealthByRecording((oldValue) => new Map(oldValue).set(recording, health))
      }
      if (!isStale.current || signal.aborted) return
      isStale.current = false
      reload()
    }
    void run()
    return () => controller.abort()
  }, [recordings])
  return healthByRecording
}

/** `isLong`: the recording is diagnosed only when it is opened. */
function HealthChip({ health, isLong }: { health: Health | undefined; isLong: boolean }) {
  if (health === undefined) return <span class="muted">{isLong ? 'open it to diagnose it' : 'waiting'}</span>
  if (health === 'failed') return <Chip severity="off">not diagnosed</Chip>
  const { count, findings } = health
  const [worstFinding] = findings
  if (worstFinding === undefined) {
    const { severity, text } = describeNoFindings(health)
    return <Chip severity={severity}>{text}</Chip>
  }
  return (
    <Chip
      severity={
        worstFinding.severity === 'error' ? 'err' : worstFinding.severity === 'warning' ? 'warn' : 'ok'
      }
    >
      <span>
        <ForeignText text={formatFindingTitle(worstFinding)} max={100} />
        {count > 1 && ` and ${count - 1} more`}
      </span>
    </Chip>
  )
}
