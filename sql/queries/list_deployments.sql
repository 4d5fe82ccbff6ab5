-- For people: deployments of the last :hours hours, newest first.
SELECT host, instance, DATE_FORMAT(since, '%Y-%m-%dT%H:%i:%s.%fZ'), version, configuration,
       previous_version, previous_configuration
  FROM deployment
 WHERE since > UTC_TIMESTAMP(6) - INTERVAL :hours HOUR
 ORDER BY since DESC, host, instance
 LIMIT :limit;
