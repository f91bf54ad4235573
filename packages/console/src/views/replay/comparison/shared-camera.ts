import type { Stage } from '../stage.ts'

/** Synchronizes the cameras of several scenes, relative to the anchor of each. */
export class SharedCamera {
  readonly #stages = new Set<Stage>()
  #isMoving = false

  add(stage: Stage): () => void {
    this.#stages.add(stage)
    stage.onMove = () => this.#move(stage)
    return () => {
      this.#stages.delete(stage)
    }
  }

  /** Ignores moves that copying a camera causes. */
  #move(movedStage: Stage): void {
    if (this.#isMoving) return
    this.#isMoving = true
    for (const stage of this.#stages) if (stage !== movedStage) stage.copyCamera(movedStage)
    this.#isMoving = false
  }
}
