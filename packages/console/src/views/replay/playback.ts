import { computed, signal } from '@preact/signals'
import type { Metadata } from '../../data/replay.ts'

/** Rates relative to recorded time. With `everyFrameRate`, each refresh of the screen shows the next frame. */
export const rates = [0.1, 0.25, 0.5, 1, 2, 4] as const
export const everyFrameRate = 0

/** Refresh rate of most screens. */
const screenRefreshHz = 60

/** Delay after the last change before details of a frame are requested, in ms. */
const restDelayMs = 80

/** The frame that all parts of the viewer show. Frames are identified by recorded ids. */
export class Playback {
  readonly first: number
  readonly frame = signal(0)
  /** The newest frame. It increases while the recording is written. */
  readonly lastFrame = signal(0)
  /** Follows `frame` after `restDelayMs` without a change. */
  readonly restingFrame = signal(0)
  readonly isPlaying = signal(false)
  readonly rate = signal<number>(1)
  readonly share = computed(
    () => (this.frame.value - this.first) / Math.max(1, this.lastFrame.value - this.first),
  )
  readonly #step: number
  #position = 0
  /** 1, or -1 to play backwards. */
  #direction = 1
  #lastTick = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #request = 0

  /** `stepSeconds` is the time between frames. */
  constructor({ first, last, stepSeconds }: { first: number; last: number; stepSeconds: number }) {
    this.first = first
    this.#step = stepSeconds
    this.lastFrame.value = last
    this.frame.value = first
    this.restingFrame.value = first
  }

  get last(): number {
    return this.lastFrame.peek()
  }

  /** Adds new frames. If the newest frame was shown, shows the new one. */
  extend(last: number): void {
    const wasAtEnd = this.frame.peek() === this.last
    this.lastFrame.value = last
    if (wasAtEnd && !this.isPlaying.peek()) this.seek(last)
  }

  /** Shows a frame, or the nearest one if it does not exist. */
  seek(frame: number): void {
    const next = Math.min(this.last, Math.max(this.first, Math.round(frame)))
    this.#position = next
    this.frame.value = next
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#updateRestingFrame(), restDelayMs)
  }

  /** Returns the number of frames to advance per screen refresh at a playback rate. */
  countPassed(rate: number): number {
    return Math.round(rate / screenRefreshHz / this.#step)
  }

  toggle(): void {
    if (this.isPlaying.value) this.pause()
    else this.play()
  }

  /**
   * Plays forwards, or backwards if `direction` is -1. At the last frame in that direction, starts at the other end.
   */
  play(direction = 1): void {
    cancelAnimationFrame(this.#request)
    this.#direction = direction
    const [start, end] = direction > 0 ? [this.first, this.last] : [this.last, this.first]
    if (this.frame.value === end) this.seek(start)
    this.#position = this.frame.value
    this.#lastTick = performance.now()
    this.isPlaying.value = true
    this.#request = requestAnimationFrame((now) => this.#tick(now))
  }

  pause(): void {
    cancelAnimationFrame(this.#request)
    this.isPlaying.value = false
    this.#updateRestingFrame()
  }

  close(): void {
    cancelAnimationFrame(this.#request)
    clearTimeout(this.#timer)
  }

  #updateRestingFrame(): void {
    if (!this.isPlaying.value) this.restingFrame.value = this.frame.value
  }

  #tick(now: number): void {
    // The timestamp of the first tick may be before the start.
    const seconds = Math.max(0, now - this.#lastTick) / 1000
    const { value: rate } = this.rate
    this.#position += this.#direction * (rate === everyFrameRate ? 1 : (seconds * rate) / this.#step)
    this.#lastTick = now
    const isBackwards = this.#direction < 0
    const frame = isBackwards ? Math.ceil(this.#position) : Math.floor(this.#position)
    this.frame.value = Math.min(this.last, Math.max(this.first, frame))
    if (this.frame.value === (isBackwards ? this.first : this.last)) this.pause()
    else this.#request = requestAnimationFrame((next) => this.#tick(next))
  }
}

export function createPlayback(
  { dt_s, first_time_s, last_time_s }: Metadata,
  { first, last, start }: { first: number; last: number; start: number },
): Playback {
  const span = (last_time_s ?? 0) - (first_time_s ?? 0)
  const stepSeconds = dt_s ?? (span > 0 ? span / Math.max(1, last - first) : 1 / 60)
  const playback = new Playback({ first, last, stepSeconds: stepSeconds > 0 ? stepSeconds : 1 / 60 })
  if (Number.isFinite(start) && start > 0) {
    playback.seek(start)
    playback.restingFrame.value = playback.frame.value
  }
  return playback
}
