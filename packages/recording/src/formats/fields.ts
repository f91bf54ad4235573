/** Columns of series in row order. */

export const systemEnergyFields = [
  ...(['total_linear_ke', 'total_rotational_ke', 'total_potential_e', 'total_system_e', 'delta_e'] as const),
  ...(['energy_injection', 'collision_active'] as const),
]

export const bodyEnergyFields = ['linear_ke', 'rotational_ke', 'potential_e', 'total_e'] as const

export const solverFields = [
  ...(['iterations', 'residual', 'converged', 'num_constraints', 'num_contacts'] as const),
]

export const seriesFields = ['frame_id', 'simulation_time'] as const
