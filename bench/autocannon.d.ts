declare module 'autocannon' {
  export interface LoadRequest {
    method: string
    path: string
    headers: Record<string, string>
    body?: string
  }
  export interface Result {
    requests: { average: number; total: number }
    latency: { p50: number; p99: number; max: number }
    errors: number
    timeouts: number
    non2xx: number
    duration: number
  }
  export default function autocannon(options: {
    url: string
    connections: number
    duration: number
    requests: LoadRequest[]
    workers?: number
  }): Promise<Result>
}
