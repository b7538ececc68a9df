import type { Area } from '../case.ts'
import { present } from '../expectation.ts'
import { audited } from './effects.ts'

const machine = '/v1/machines/web'
const text = `${machine}/console?follow=false`
const screenshot = `${machine}/screenshot`

/** Consoles of machines, pictures of their screens, and calls that wait for machines. */
export const consoleArea: Area = {
  name: 'consoles',
  people: { operator: { claims: ['LIST_VM'] } },
  needs: ['guests'],
  withHost: true,
  cases: [
    {
      name: 'create a machine with a console',
      request: ['POST', '/v1/machines', { name: 'web', memory: 32, disks: [{ size: 1 }], kernel: '{kernel}' }],
      status: 201,
      saves: { web: 'id' },
    },
    { name: 'wait for a state that it has', request: ['GET', `${machine}/wait?for=stopped`], status: 200 },
    {
      name: 'wait for output of a machine that is stopped',
      request: ['GET', `${machine}/wait?for=serial:BOOT`],
      status: 200,
      reply: { id: '{web}', result: 'stopped', current_state: 'stopped', cursor: '0' },
    },
    {
      name: 'read a console that nothing was written to',
      request: ['GET', text],
      status: 200,
    },
    {
      name: 'follow a console over a WebSocket',
      request: ['SOCKET', `${machine}/console?writer=claim`, 1],
      status: 101,
    },
    {
      name: 'the picture of a machine with a console that is stopped',
      request: ['GET', screenshot],
      status: 409,
    },
    { name: 'start the machine with a console', request: ['PUT', `${machine}/start`], status: 200 },
    {
      name: 'wait for the output of its boot',
      request: ['GET', `${machine}/wait?for=serial:BOOT%200*1&timeout=60`],
      status: 200,
      reply: { id: '{web}', result: 'met', current_state: 'running', cursor: present },
    },
    {
      name: 'take a picture of its screen',
      request: ['GET', screenshot],
      status: 200,
      effects: [audited('machines/screenshot')],
    },
    {
      name: 'an operator takes no picture of it',
      as: 'operator',
      request: ['GET', screenshot],
      status: 403,
    },
    {
      name: 'wait for something that does not come',
      request: ['GET', `${machine}/wait?for=event:VM_REMOVED&timeout=0`],
      status: 200,
      reply: { result: 'timeout' },
    },
    { name: 'follow a console without one', request: ['GET', `${machine}/console`], status: 426 },
    {
      name: 'search a console for no pattern',
      request: ['GET', `${text}&search=(`],
      status: 400,
    },
    { name: 'wait for no condition', request: ['GET', `${machine}/wait?for=never`], status: 400 },
    {
      name: 'a console of a machine that there is not',
      request: ['GET', '/v1/machines/x/console?follow=false'],
      status: 404,
    },
    {
      name: 'an operator reads no console',
      as: 'operator',
      request: ['GET', text],
      status: 403,
    },
    {
      name: 'an operator waits for no output',
      as: 'operator',
      request: ['GET', `${machine}/wait?for=serial:x&timeout=0`],
      status: 403,
    },
    {
      name: 'an operator waits for a state',
      as: 'operator',
      request: ['GET', `${machine}/wait?for=running`],
      status: 200,
      reply: { result: 'met' },
    },
    { name: 'delete the machine with a console', request: ['DELETE', `${machine}?force=true`], status: 202 },
  ],
}
