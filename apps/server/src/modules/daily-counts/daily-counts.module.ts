import type { Module } from '../module.ts'

export const dailyCounts: Module = {}
