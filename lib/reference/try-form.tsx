import { useRef, useState } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'
import { formatCurl } from './curl.ts'
import { isWebSocket, type Operation } from './description.ts'
import { ParameterInput } from './parameter-input.tsx'
import { ReplyView } from './reply-view.tsx'
import {
  buildRequest,
  type Credential,
  findBodyProblem,
  type Form,
  formatExampleBody,
  formKey,
  getBodyType,
  listMissing,
} from './request.ts'
import { type Received, sendRequest } from './send.ts'

interface Props {
  readonly operation: Operation
  readonly credential: Credential
}

/** The file that a curl command writes, for a reply that is bytes. */
const chooseOutput = ({ responses }: Operation): string | undefined => {
  const success = responses['200']
  const types = Object.keys((success && 'content' in success && success.content) || {})
  const isBytes = types.length > 0 && types.every(type => !/json|^text\//.test(type))
  return isBytes ? 'reply.bin' : undefined
}

/** A call that is under way or has ended. */
interface Call {
  readonly received?: Received
  readonly problem?: string
  readonly isRunning: boolean
}

/** Sends requests, one at a time, and keeps what came of the last one. */
const useCall = () => {
  const [call, setCall] = useState<Call>()
  const controller = useRef<AbortController>(null)
  const send = async (request: ReturnType<typeof buildRequest>): Promise<void> => {
    const { signal } = (controller.current = new AbortController())
    setCall({ isRunning: true })
    try {
      await sendRequest(request, received => setCall({ received, isRunning: !received.isComplete }), signal)
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      const problem = signal.aborted ? 'Stopped.' : `The service did not answer: ${text}. Is it running?`
      setCall(last => ({ ...last, problem, isRunning: false }))
    }
  }
  return { call, send, stop: () => controller.current?.abort() }
}

/** A form for the parameters and the body of an operation, the request as a curl command, and the reply to it. */
export const TryForm = ({ operation, credential }: Props) => {
  const [form, setForm] = useState<Form>({ values: {}, body: formatExampleBody(operation) })
  const { call, send, stop } = useCall()
  const type = getBodyType(operation)
  const request = buildRequest(operation, form, credential)
  const problem = findBodyProblem(operation, form)
  const missing = listMissing(operation, form)
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (problem === undefined) void send(request)
  }
  const curl = formatCurl(request, location.origin, chooseOutput(operation))
  return (
    <section class="try">
      <h2>Try it</h2>
      <form onSubmit={onSubmit}>
        {operation.parameters.map(parameter => (
          <ParameterInput
            key={formKey(parameter)}
            parameter={parameter}
            value={form.values[formKey(parameter)] ?? ''}
            onChange={value => setForm(last => ({ ...last, values: { ...last.values, [formKey(parameter)]: value } }))}
          />
        ))}
        {type === 'application/json' && (
          <label class="field wide">
            <span>Body</span>
            <textarea
              rows={Math.min(16, form.body.split('\n').length + 1)}
              spellcheck={false}
              value={form.body}
              aria-invalid={problem !== undefined}
              onInput={({ currentTarget: { value } }) => setForm(last => ({ ...last, body: value }))}
            />
          </label>
        )}
        {type !== undefined && type !== 'application/json' && (
          <label class="field wide">
            <span>File</span>
            <input
              type="file"
              onChange={({ currentTarget: { files } }) => {
                const file = files?.[0]
                setForm(last => ({ ...last, ...(file && { file }) }))
              }}
            />
          </label>
        )}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {!isWebSocket(operation) && (
          <p class="buttons">
            <button type="submit" class="primary" disabled={call?.isRunning === true || missing.length > 0}>
              Send {operation.method}
            </button>
            {call?.isRunning === true && (
              <button type="button" onClick={stop}>
                Stop
              </button>
            )}
            {missing.length > 0 && <span class="hint">Needs {missing.join(', ')}.</span>}
            {operation.security.length > 0 && credential.secret === '' && (
              <span class="hint">You are not signed in: use “Sign in” at the top of the page.</span>
            )}
          </p>
        )}
      </form>
      <div class="curl">
        <pre tabIndex={0} aria-label="The request as a curl command">
          {curl}
        </pre>
        <CopyButton text={curl} />
      </div>
      {call?.received && <ReplyView received={call.received} />}
      {call?.problem !== undefined && (
        <p class="problem" role="alert">
          {call.problem}
        </p>
      )}
    </section>
  )
}
