import { render } from 'preact'
import { App } from './app.tsx'
import { followJobFailures } from './parts/job-failures.tsx'
import { loadSession } from './state/session.ts'

render(<App />, document.body)
followJobFailures()
void loadSession()
