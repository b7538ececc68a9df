import { conditionForms } from '#lib/machines/wait/forms.ts'

/** Descriptions of what consoles, screens and waits take and reply, for the OpenAPI document. */
export const waitGlossary: Readonly<Record<string, string>> = {
  'machines.for': `The condition: ${conditionForms}`,
  'machines.until': `Starts the new machine and waits: ${conditionForms}`,
  'machines.timeout': 'Seconds to wait, at most 300',
  'machines.cursor':
    'The cursor of an earlier reply for the same kind of condition: the search goes on there. Without it, serial output is searched from the last boot on, and events from now on',
  'MachineWait.result':
    'met, or why the wait has ended before: the time was over, the machine was stopped and the condition needs its guest, or the machine was deleted',
  'MachineWait.current_state': 'State of the machine; left out when it is gone',
  'MachineWait.ip_configured': 'The first IP address; - if the machine has none',
  'MachineWait.cursor': 'Of a wait for serial output or for events: where the next such wait goes on',
  'MachineWait.gap':
    'Output or events after the cursor of the request are not kept any more, so they were not searched',
  'machines.follow': 'false replies with the output so far as text, and needs no WebSocket',
  'machines.offset':
    'The first byte to send, counted from the first that the guest has ever written; a negative one counts from the end',
  'machines.writer':
    'claim makes this the connection that writes, and is refused with 409 while there is another one; take-over takes the place of the other one',
  'machines.view_only': 'true: the guest gets no keys and no pointer from this connection, which only shows the screen',
  'machines.search':
    'With follow=false: a regular expression of RE2. The reply has the lines that match, as OFFSET:LINE',
}
