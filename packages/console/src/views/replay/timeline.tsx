import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Finding, Metadata } from '../../data/replay.ts'
import { formatFinding } from '../../domain/diagnosis.ts'
import { formatNumber } from '../../domain/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { severityMarks } from './finding-list.tsx'
import type { CallMark } from './follow.tsx'
import { everyFrameRate, type Playback } from './playback.ts'

export function Timeline({
  playback,
  findings,
  chosenFinding,
  open,
  laneName = 'findings',
  calls = [],
  isPlaying,
  metadata,
  rates,
}: {
  playback: Playback
  findings: readonly Finding[]
  chosenFinding: string | undefined
  open: (finding: Finding) => void
  laneName?: string
  calls?: readonly CallMark[]
  isPlaying: boolean
  metadata: Metadata
  rates: readonly number[]
}) {
  return (
    <div class="timeline">
      <div class="row transport">
        <button type="button" class="button primary" onClick={() => playback.toggle()}>
          <Icon name={isPlaying ? 'pause' : 'play'} />
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <FrameReadout playback={playback} metadata={metadata} />
        <label class="row">
          Speed
          <select
            value={String(playback.rate.value)}
            onChange={({ currentTarget }) => {
              playback.rate.value = Number(currentTarget.value)
            }}
          >
            {rates.map((rate) => (
              <option key={rate} value={String(rate)}>
                {rate}× {formatSkipped(playback.countPassed(rate))}
              </option>
            ))}
            <option value={String(everyFrameRate)}>every frame</option>
          </select>
        </label>
      </div>
      {findings.length > 0 && (
        <Lane playback={playback} name={laneName} marks={toFindingMarks(findings, { chosenFinding, open })} />
      )}
      {calls.length > 0 && <Lane playback={playback} name="calls" marks={calls.map(toCallMark)} />}
      <Scrubber playback={playback} metadata={metadata} />
    </div>
  )
}

const formatSkipped = (passed: number): string => (passed > 1 ? `(skips ${passed - 1} of ${passed})` : '')

interface Mark {
  readonly id: string
  readonly frames: { readonly first: number; readonly last: number }
  readonly title: string
  readonly class: string
  readonly open: () => void
}

/** Clickable marks. Keyboard users can open the same items from the list of findings and the Traffic page. */
function Lane({ playback, name, marks }: { playback: Playback; name: string; marks: readonly Mark[] }) {
  const lane = useRef<HTMLDivElement>(null)
  const { first } = playback
  const last = playback.lastFrame.value
  useEffect(() => {
    const handle = ({ target }: MouseEvent): void =>
      marks.find(({ id }) => id === (target as HTMLElement).dataset.mark)?.open()
    lane.current?.addEventListener('click', handle)
    return () => lane.current?.removeEventListener('click', handle)
  })
  const toShare = (frame: number): number => ((frame - first) / Math.max(1, last - first)) * 100
  return (
    <div class="lane" ref={lane} role="img" aria-label={`${name} on the time axis: ${marks.length}`}>
      <span class="lane-name">{name}</span>
      {marks.map((mark) => {
        const left = toShare(mark.frames.first)
        return (
          <span
            key={mark.id}
            data-mark={mark.id}
            class={`mark ${mark.class}`}
            title={mark.title}
            style={{ left: `${left}%`, width: `${toShare(mark.frames.last) - left}%` }}
          />
        )
      })}
    </div>
  )
}

const toFindingMarks = (
  findings: readonly Finding[],
  { chosenFinding, open }: { chosenFinding: string | undefined; open: (finding: Finding) => void },
): readonly Mark[] =>
  listLongestFirst(findings).map((finding) => {
    const { id, severity, frames } = finding
    return {
      ...{ id, frames, open: () => open(finding) },
      class: `${severity} ${id === chosenFinding ? 'chosen' : ''}`,
      title: `${severityMarks[severity]} ${formatFinding(finding)}, frames ${frames.first} to ${frames.last}`,
    }
  })

const toCallMark = ({ id, frame, text, open }: CallMark): Mark => ({
  ...{ id, title: text, open, class: 'call' },
  frames: { first: frame, last: frame },
})

/** Sorts findings so that short ones are drawn over long ones. */
const listLongestFirst = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => b.frames.last - b.frames.first - (a.frames.last - a.frames.first))

/** Selects the frame. Pauses playback during dragging. */
function Scrubber({ playback, metadata }: { playback: Playback; metadata: Metadata }) {
  const input = useRef<HTMLInputElement>(null)
  const wasPlaying = useRef(false)
  useSignalEffect(() => {
    const frame = String(playback.frame.value)
    if (input.current === null) return
    input.current.value = frame
    input.current.setAttribute('aria-valuetext', `frame ${frame}${formatTime(metadata, Number(frame))}`)
  })
  return (
    <input
      ref={input}
      class="scrubber"
      type="range"
      aria-label="Frame"
      min={playback.first}
      max={playback.lastFrame.value}
      step={1}
      onPointerDown={() => {
        wasPlaying.current = playback.isPlaying.value
        playback.pause()
      }}
      onPointerUp={() => {
        if (wasPlaying.current) playback.toggle()
      }}
      onInput={({ currentTarget }) => playback.seek(Number(currentTarget.value))}
    />
  )
}

function FrameReadout({ playback, metadata }: { playback: Playback; metadata: Metadata }) {
  const output = useRef<HTMLSpanElement>(null)
  useSignalEffect(() => {
    const frame = playback.frame.value
    if (output.current === null) return
    output.current.textContent = `Frame ${frame} of ${playback.lastFrame.value}${formatTime(metadata, frame)}`
  })
  return <span ref={output} class="readout" data-frame />
}

/** Formats the time of a frame, assuming equal time steps. */
function formatTime({ first_time_s, last_time_s, first_frame, last_frame }: Metadata, frame: number): string {
  if (first_time_s === null || last_time_s === null) return ''
  const share = (frame - (first_frame ?? 0)) / Math.max(1, (last_frame ?? 0) - (first_frame ?? 0))
  return ` · ${formatNumber(first_time_s + share * (last_time_s - first_time_s))} s`
}
