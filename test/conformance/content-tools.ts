import { setTimeout as delay } from 'node:timers/promises'
import type { AppTool } from '@causeway/app-kit'
import { CausewayError, type Content } from '@causeway/protocol'
import { rawTool, text } from './raw-tool.ts'

/** One red pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** A WAV file without samples. */
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const image: Content = { type: 'image', data: png, mimeType: 'image/png' }

/** Long enough for a client to receive messages one by one. */
const pauseMs = 50

/** Tools that return each kind of content, fail, report progress and send messages. */
export const contentTools: readonly AppTool[] = [
  rawTool('test_simple_text', () => text('This is a simple text response for testing.')),
  rawTool('test_image_content', () => [image]),
  rawTool('test_audio_content', () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }]),
  rawTool('test_embedded_resource', () => [
    {
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    },
  ]),
  rawTool('test_multiple_content_types', () => [
    ...text('Multiple content types test:'),
    image,
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: JSON.stringify({ test: 'data', value: 123 }),
      },
    },
  ]),
  rawTool('test_error_handling', () => {
    throw new CausewayError('FILE_NOT_FOUND', 'This tool intentionally returns an error for testing')
  }),
  rawTool('test_tool_with_progress', async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress(done, 100)
      await delay(pauseMs)
    }
    return text('Progress was reported.')
  }),
  rawTool('test_tool_with_logging', async (_, { notify }) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      notify('info', message)
      await delay(pauseMs)
    }
    return text('Messages were sent.')
  }),
  rawTool('test_logging_tool', (_, { notify }) => {
    notify('info', 'for clients that requested log messages')
    return text('A message was sent to the clients that requested log messages.')
  }),
  rawTool('test_reconnection', async () => {
    await delay(pauseMs)
    return text('The result of a stream that stayed open.')
  }),
]
