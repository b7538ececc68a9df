/** How a condition of a machine is written, for messages and descriptions. */
export const conditionForms =
  'running, stopped, ip (it has an address), agent (its guest agent has answered), port:NUMBER (the guest accepts connections to it), serial:PATTERN (its serial output matches a regular expression of RE2) or event:TYPE (VM_STATE_CHANGED, VM_UPDATED, VM_REMOVED, VM_SNAPSHOTS_UPDATED)'
