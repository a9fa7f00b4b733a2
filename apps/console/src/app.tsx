import { BrowserRouter } from 'react-router'
import { Router } from './router.tsx'

export function App() {
  return (
    <BrowserRouter>
      <Router />
    </BrowserRouter>
  )
}
