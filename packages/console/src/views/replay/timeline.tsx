import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Finding, Metadata } from '../../data/replay.ts'
import { formatFinding } from '../../domain/diagnosis.ts'
import { formatNumber } from '../../domain/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { severityMarks } from './finding-list.tsx'
import type { Playback } from './playback.ts'

export function Timeline({
  playback,
  findings,
  chosen,
  open,
  isPlaying,
  metadata,
  rates,
}: {
  playback: Playback
  findings: readonly Finding[]
  chosen: string | undefined
  open: (finding: Finding) => void
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
                {rate}×
              </option>
            ))}
          </select>
        </label>
      </div>
      {findings.length > 0 && <Lane {...{ playback, findings, chosen, open }} />}
      <Scrubber playback={playback} />
    </div>
  )
}

/** Shows the findings on the time axis. A click opens one; keyboard users have the list of findings. */
function Lane({
  playback,
  findings,
  chosen,
  open,
}: {
  playback: Playback
  findings: readonly Finding[]
  chosen: string | undefined
  open: (finding: Finding) => void
}) {
  const lane = useRef<HTMLDivElement>(null)
  const { first } = playback
  const last = playback.lastFrame.value
  useEffect(() => {
    const handle = ({ target }: MouseEvent): void => {
      const id = (target as HTMLElement).dataset.finding
      const finding = findings.find((one) => one.id === id)
      if (finding !== undefined) open(finding)
    }
    lane.current?.addEventListener('click', handle)
    return () => lane.current?.removeEventListener('click', handle)
  })
  const toShare = (frame: number): number => ((frame - first) / Math.max(1, last - first)) * 100
  return (
    <div class="lane" ref={lane} role="img" aria-label={`${findings.length} findings on the time axis`}>
      {listLongestFirst(findings).map((finding) => {
        const { id, severity, frames } = finding
        const left = toShare(frames.first)
        return (
          <span
            key={id}
            data-finding={id}
            class={`mark ${severity} ${id === chosen ? 'chosen' : ''}`}
            title={`${severityMarks[severity]} ${formatFinding(finding)}, frames ${frames.first} to ${frames.last}`}
            style={{ left: `${left}%`, width: `${toShare(frames.last) - left}%` }}
          />
        )
      })}
    </div>
  )
}

/** Short findings are drawn over long ones. */
const listLongestFirst = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((a, b) => b.frames.last - b.frames.first - (a.frames.last - a.frames.first))

/** Pauses playback while it is dragged. */
function Scrubber({ playback }: { playback: Playback }) {
  const input = useRef<HTMLInputElement>(null)
  const wasPlaying = useRef(false)
  useSignalEffect(() => {
    const frame = String(playback.frame.value)
    if (input.current === null) return
    input.current.value = frame
    input.current.setAttribute('aria-valuetext', `frame ${frame}`)
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
  const { first_time_s, last_time_s, first_frame, last_frame } = metadata
  useSignalEffect(() => {
    const frame = playback.frame.value
    if (output.current === null) return
    const share = (frame - (first_frame ?? 0)) / Math.max(1, (last_frame ?? 0) - (first_frame ?? 0))
    const time =
      first_time_s === null || last_time_s === null
        ? ''
        : ` · ${formatNumber(first_time_s + share * (last_time_s - first_time_s))} s`
    output.current.textContent = `Frame ${frame} of ${playback.lastFrame.value}${time}`
  })
  return <span ref={output} class="readout" data-frame />
}
