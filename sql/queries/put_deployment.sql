-- Records what an instance runs from now on, if it differs from before. A repeat changes nothing.
INSERT INTO deployment (host, instance, since, version, configuration, previous_version, previous_configuration)
SELECT :host, :instance, UTC_TIMESTAMP(6), :version, :configuration, last.version, last.configuration
  FROM (SELECT 1 AS one) AS row_of_now
  LEFT JOIN (SELECT version, configuration
               FROM deployment
              WHERE host = :host AND instance = :instance
              ORDER BY since DESC
              LIMIT 1) AS last ON TRUE
 WHERE last.version IS NULL OR last.version <> :version OR last.configuration <> :configuration;
