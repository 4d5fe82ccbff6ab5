CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER shop@localhost IDENTIFIED BY 'secret';
CREATE USER shop_reader@localhost IDENTIFIED BY 'secret';
GRANT ALL ON shop.* TO shop@localhost;
GRANT SELECT ON shop.* TO shop_reader@localhost;
GRANT EXECUTE ON PROCEDURE allot.allot_submit TO shop@localhost;
GRANT EXECUTE ON PROCEDURE allot.allot_task TO shop@localhost;
GRANT EXECUTE ON PROCEDURE allot.allot_queue_figures TO shop@localhost;
