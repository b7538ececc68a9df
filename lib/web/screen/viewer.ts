import RFB from '@novnc/novnc'
import { client } from '../state/service.ts'

interface Options {
  readonly onStatus: (text: string) => void
  /** Ctrl-] was pressed: the keyboard leaves the screen. */
  readonly onLeave: () => void
}

/**
 * Shows the screen of a machine in an element of the page, and gives what ends it. Throws when the service gives no ticket. The connection
 * ends when the machine stops.
 */
export const openScreen = async (
  id: string,
  frame: HTMLElement,
  { onStatus, onLeave }: Options,
): Promise<() => void> => {
  const path = `/v1/machines/${encodeURIComponent(id)}/screen`
  const { ticket } = await client.api.auth.createTicket({ body: { path } })
  const viewer = new RFB(
    frame,
    `${location.origin.replace(/^http/, 'ws')}/api${path}?ticket=${encodeURIComponent(ticket)}`,
    { wsProtocols: ['binary'] },
  )
  viewer.scaleViewport = true
  viewer.addEventListener('connect', () => {
    onStatus('Connected')
    viewer.focus()
  })
  viewer.addEventListener('disconnect', () => onStatus('The connection has ended.'))
  const onKey = (event: KeyboardEvent): void => {
    if (!event.ctrlKey || event.key !== ']') return
    event.preventDefault()
    event.stopImmediatePropagation()
    viewer.blur()
    onLeave()
  }
  frame.addEventListener('keydown', onKey, { capture: true })
  return () => {
    frame.removeEventListener('keydown', onKey, { capture: true })
    viewer.disconnect()
  }
}
