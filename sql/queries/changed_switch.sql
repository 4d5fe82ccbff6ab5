-- For doctor: whether optimizer_switch was changed. No statement depends on it, but plans may.
SELECT /*M!100000 GLOBAL_VALUE <> DEFAULT_VALUE
  FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = 'OPTIMIZER_SWITCH' */
       /*!80000 VARIABLE_SOURCE <> 'COMPILED'
  FROM performance_schema.variables_info WHERE VARIABLE_NAME = 'optimizer_switch' */;
