import type { Handlers } from '@causeway/worker'
import { allColumns } from '../formats/frame-window.ts'
import { type PackedWindow, packWindow } from '../formats/window-block.ts'
import type { BodyId } from '../types.ts'
import { connect, openCopy } from './cpp/connection.ts'
import { createWindowReader, type ReadWindow } from './cpp/window-reader.ts'

export interface WindowMethods {
  readonly read: (args: {
    readonly file: string
    readonly bodies: readonly BodyId[]
    readonly ids: readonly number[]
    readonly context: number
  }) => PackedWindow
}

export class WindowSession {
  #open: { readonly read: ReadWindow; readonly close: () => void } | undefined

  readonly handlers: Handlers<WindowMethods> = {
    read: ({ file, bodies, ids, context }) => {
      this.#open ??= openWindows(file, bodies)
      return packWindow(this.#open.read(ids, context))
    },
  }

  readonly close = (): void => this.#open?.close()
}

function openWindows(file: string, bodies: readonly BodyId[]) {
  const connection = connect(openCopy(file))
  return {
    read: createWindowReader(connection, bodies, allColumns),
    close: () => void connection.db.close(),
  }
}
