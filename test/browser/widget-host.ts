// cspell:words oncalltool oninitialized onopenlink onreadresource onsizechange onupdatemodelcontext
/** A host of MCP Apps for the browser: the reference implementation of its protocol, with a frame that has no origin. */
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

type Members = Record<string, unknown>

/** Sends a request to the server as the host's MCP client. Provided by the test. */
declare function requestServer(method: string, params: unknown): Promise<Members>

/** The document, reduced to the widget's frame. Types of the DOM would apply to all tests. */
declare const document: {
  querySelector(selector: 'iframe'): { contentWindow: never; src: string; style: { height: string } }
}

/** Data that the test passes to the host: a listed tool, its arguments and its result. */
export interface OpenedTool {
  readonly tool: Members & { readonly name: string }
  readonly args: Members
  /** If it is absent, the host sends no result. */
  readonly result?: Members
  readonly theme: 'light' | 'dark'
}

/** Data that the widget sent to its host. */
export interface HostEvents {
  readonly messages: string[]
  readonly links: string[]
  readonly contexts: Members[]
  readonly heights: number[]
}

const events: HostEvents = { messages: [], links: [], contexts: [], heights: [] }
let bridge: AppBridge | undefined
/** Whether the host rejects the requests of the widget. */
let isRejecting = false

function checkRequest(): void {
  if (isRejecting) throw new Error('rejected by the host')
}

Object.assign(globalThis, {
  hostEvents: events,
  async openTool({ tool, args, result, theme }: OpenedTool): Promise<void> {
    const frame = document.querySelector('iframe')
    const opened = new AppBridge(
      null,
      { name: 'test-host', version: '1' },
      { openLinks: {}, serverTools: {}, serverResources: {}, message: {}, updateModelContext: {} },
      { hostContext: { theme, toolInfo: { tool: tool as never }, displayMode: 'inline' } },
    )
    bridge = opened
    const initialized = new Promise<void>((resolve) => {
      opened.oninitialized = () => resolve()
    })
    opened.oncalltool = async (params) => {
      checkRequest()
      return (await requestServer('tools/call', params)) as never
    }
    opened.onreadresource = async (params) => (await requestServer('resources/read', params)) as never
    opened.onmessage = async ({ content }) => {
      checkRequest()
      events.messages.push(String((content[0] as { text?: string }).text))
      return {}
    }
    opened.onopenlink = async ({ url }) => {
      checkRequest()
      events.links.push(url)
      return {}
    }
    opened.onupdatemodelcontext = async ({ structuredContent }) => {
      checkRequest()
      events.contexts.push(structuredContent as Members)
      return {}
    }
    opened.onsizechange = ({ height = 0 }) => {
      events.heights.push(height)
      frame.style.height = `${height}px`
    }
    const target = frame.contentWindow
    await opened.connect(new PostMessageTransport(target, target))
    frame.src = '/widget'
    await initialized
    await opened.sendToolInput({ arguments: args })
    if (result !== undefined) await opened.sendToolResult(result as never)
  },
  setTheme: (theme: 'light' | 'dark') =>
    bridge?.setHostContext({
      theme,
      toolInfo: undefined as never,
      styles: { variables: { '--font-sans': 'serif' } as never },
    }),
  rejectRequests() {
    isRejecting = true
  },
  closeTool: () => bridge?.teardownResource({}),
})
